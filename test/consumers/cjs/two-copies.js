// Two copies of the package: the class is decorated by one, the module is of the other. Prints why it does not work.
require('reflect-metadata');
const { cpSync } = require('node:fs');
const { join } = require('node:path');
const { Module } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');

const [connection, way] = process.argv.slice(2);
const installed = join(__dirname, 'node_modules', 'nestjs-distributed-lock');
const nested = join(__dirname, 'node_modules', 'a-library', 'node_modules', 'nestjs-distributed-lock');
cpSync(installed, nested, { recursive: true });

const { DistributedLock } = require(nested);
const { LockTestingModule } = require('nestjs-distributed-lock/testing');

class Orders {
  async place() {}
}
const descriptor = Object.getOwnPropertyDescriptor(Orders.prototype, 'place');
DistributedLock('key', { connection })(Orders.prototype, 'place', descriptor);
Object.defineProperty(Orders.prototype, 'place', descriptor);

class AppModule {}
const provider = way === 'made' ? { provide: Orders, useFactory: () => new Orders() } : Orders;
Module({ imports: [LockTestingModule.forRoot({ name: connection })], providers: [provider] })(AppModule);

async function main() {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  try {
    await app.get(Orders).place();
  } finally {
    await app.close();
  }
}

main().then(
  () => console.log('ran'),
  (error) => console.log(error.message),
);
