// The way of Jest: CommonJS only, and the condition `require`.
require('reflect-metadata');
const { join } = require('node:path');
const { Injectable, Module } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');

const folder = join(__dirname, 'node_modules', 'nestjs-distributed-lock');
const manifest = require(join(folder, 'package.json'));
const byCondition = (entry) => require(join(folder, manifest.exports[entry].require.default));

const { LockService, LockTimeoutError } = byCondition('.');
const { LockTestingModule } = byCondition('./testing');

class AppModule {}
Module({ imports: [LockTestingModule.forRoot()] })(AppModule);

async function main() {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const locks = app.get(LockService);
  const lease = await locks.acquire('key');
  const refused = await locks.acquire('key', { waitMs: 1 }).catch((error) => error);
  await lease.release();
  await app.close();
  console.log(JSON.stringify({ refused: refused instanceof LockTimeoutError || refused.name }));
}

void main();
