import { npm } from '../support/command.mjs';
import { output } from './output.mjs';
import { nodeOf, Workspace } from './workspace.mjs';

const NODES = [20, 22, 24];
const JEST = 'jest/bin/jest.js';
const VITEST = 'vitest/vitest.mjs';

const jest = NODES.map((node) => ({
  name: `nest-11-jest-node-${node}`,
  title: `\`nest new\` of 11, untouched: Jest with ts-jest, Node ${node}`,
  async run(context) {
    const app = await Workspace.nest(context, 11, this.name);
    await app.bin(JEST, ['--no-cache'], await nodeOf(context, node));
  },
}));

const vitest = NODES.map((node) => ({
  name: `nest-12-vitest-node-${node}`,
  title: `\`nest new\` of 12, untouched: Vitest, Node ${node}`,
  async run(context) {
    const app = await Workspace.nest(context, 12, this.name);
    await app.bin(VITEST, ['run'], await nodeOf(context, node));
  },
}));

/** As plugins do that replace modules: each file is then evaluated by Vitest instead of Node. */
const inlined = {
  name: 'nest-12-vitest-inlined',
  title: 'NestJS 12, Vitest that inlines NestJS and the package',
  async run(context) {
    const app = await Workspace.nest(context, 12, this.name);
    const inline = ['@nestjs/common', '@nestjs/core', '@nestjs/testing', 'nestjs-distributed-lock'];
    const test = { globals: true, include: ['**/*.spec.ts'], server: { deps: { inline } } };
    await app.write('vitest.config.ts', `export default ${JSON.stringify({ test })};\n`).bin(VITEST, ['run']);
  },
};

const swcJest = {
  name: 'nest-11-swc-jest',
  title: 'NestJS 11, Jest with @swc/jest',
  async run(context) {
    const app = await Workspace.nest(context, 11, this.name);
    const jsc = {
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
    };
    const transform = { '^.+\\.ts$': ['@swc/jest', { jsc, module: { type: 'commonjs' } }] };
    app.write('jest.config.json', { ...app.json('package.json').jest, transform });
    const { jest: _, ...manifest } = app.json('package.json');
    await app.write('package.json', manifest).bin(JEST, ['--no-cache']);
  },
};

const pnpm = {
  name: 'nest-11-pnpm',
  title: "NestJS 11, Jest with ts-jest in pnpm's layout",
  async run(context) {
    const app = await Workspace.empty(context, this.name);
    const from = await Workspace.nest(context, 11, `${this.name}-source`);
    for (const file of ['tsconfig.json', 'package.json']) app.write(file, from.json(file));
    app.copy('nest/orders-tests.ts', 'src/orders.spec.ts');
    await output(app.dir, npm('exec', '--yes', 'pnpm@10', '--', 'install', '--no-frozen-lockfile'));
    await app.bin(JEST, ['--no-cache']);
  },
};

export const TESTS = [...jest, swcJest, pnpm, ...vitest, inlined];
