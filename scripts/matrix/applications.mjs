import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Workspace } from './workspace.mjs';

const NEST = '@nestjs/cli/bin/nest.js';
const PRINTED = '42 held\n';

/** An application that starts must lock, on an embedded server. */
async function expectToLock(app, main = 'dist/main.js') {
  assert.equal(await app.run(process.execPath, main), PRINTED);
}

const build = (major, builder) => ({
  name: `nest-${major}-build-${builder}`,
  title: `NestJS ${major}, \`nest build -b ${builder}\``,
  async run(context) {
    const app = await Workspace.nest(context, major, this.name);
    rmSync(join(app.dir, 'src', 'orders.spec.ts'));
    await app.bin(NEST, ['build', '-b', builder]);
    await expectToLock(app);
  },
});

/** Optional parts of NestJS that a bundler cannot find. */
const ONE_FILE = `const { IgnorePlugin } = require('webpack');
const optional = /^(@nestjs\\/(websockets|microservices)(\\/.*)?|class-validator|class-transformer(\\/.*)?)$/;
module.exports = (options) => ({
  ...options,
  externals: [],
  plugins: [...options.plugins, new IgnorePlugin({ checkResource: (name) => optional.test(name) })],
});
`;

const oneFile = {
  name: 'nest-11-one-file',
  title: 'NestJS 11, all in one file by webpack, without node_modules',
  async run(context) {
    const app = await Workspace.nest(context, 11, this.name);
    await app.write('webpack.config.js', ONE_FILE).bin(NEST, ['build', '-b', 'webpack']);
    rmSync(join(app.dir, 'node_modules'), { recursive: true });
    await expectToLock(app);
  },
};

const LIBRARY = `import { Module } from '@nestjs/common';
import { DistributedLock, LockModule, zookeeper } from 'nestjs-distributed-lock';
import { EmbeddedZooKeeper } from 'nestjs-distributed-lock/testing';

export const server = EmbeddedZooKeeper.start();
export const Locked = () => DistributedLock((id: number) => \`order/\${id}\`);

@Module({
  imports: [
    LockModule.forRootAsync({
      useFactory: async () => ({ backend: zookeeper({ connectString: (await server).connectString }) }),
    }),
  ],
})
export class LockingModule {}
`;

const SHOP = `import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { currentLease } from 'nestjs-distributed-lock';
import { Locked, LockingModule, server } from '@app/locking';

@Injectable()
class Orders {
  @Locked()
  async place(id: number): Promise<string> {
    return \`\${id} \${currentLease()?.state}\`;
  }
}

@Module({ imports: [LockingModule], providers: [Orders] })
class AppModule {}

async function bootstrap(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
  console.log(await app.get(Orders).place(42));
  await app.close();
  await (await server).stop();
}

void bootstrap();
`;

const project = (type, root) => ({
  type,
  root,
  entryFile: type === 'library' ? 'index' : 'main',
  sourceRoot: `${root}/src`,
  compilerOptions: { tsConfigPath: `${root}/tsconfig.json` },
});

const monorepo = {
  name: 'nest-11-monorepo',
  title: 'NestJS 11, a monorepo whose applications share a library with the LockModule',
  async run(context) {
    const app = await Workspace.nest(context, 11, this.name);
    rmSync(join(app.dir, 'src'), { recursive: true });
    const { compilerOptions, ...cli } = app.json('nest-cli.json');
    const projects = { shop: project('application', 'apps/shop'), locking: project('library', 'libs/locking') };
    const root = { monorepo: true, root: 'apps/shop', sourceRoot: 'apps/shop/src', projects };
    app.write('nest-cli.json', { ...cli, ...root, compilerOptions: { ...compilerOptions, webpack: true } });
    const tsconfig = app.json('tsconfig.json');
    tsconfig.compilerOptions.paths = { '@app/locking': ['libs/locking/src'] };
    app.write('tsconfig.json', tsconfig);
    for (const folder of ['apps/shop', 'libs/locking']) {
      app.write(`${folder}/tsconfig.json`, { extends: '../../tsconfig.json', include: ['src/**/*'] });
    }
    app.write('libs/locking/src/index.ts', LIBRARY).write('apps/shop/src/main.ts', SHOP);
    await app.bin(NEST, ['build', 'shop']);
    await expectToLock(app, 'dist/apps/shop/main.js');
  },
};

// NestJS 12 builds with webpack no longer.
const BUILDERS = { 11: ['tsc', 'swc', 'webpack'], 12: ['tsc', 'swc', 'rspack'] };
const builds = [11, 12].flatMap((major) => BUILDERS[major].map((builder) => build(major, builder)));

export const APPLICATIONS = [...builds, oneFile, monorepo];
