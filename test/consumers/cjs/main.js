require('reflect-metadata');
const locks = require('nestjs-distributed-lock');
const testing = require('nestjs-distributed-lock/testing');

const { LockModule, zookeeper } = locks;
const registered = LockModule.forRoot({ backend: zookeeper({ connectString: '127.0.0.1:2181' }) });

console.log(
  JSON.stringify({
    exports: Object.keys(locks).sort(),
    testing: Object.keys(testing).sort(),
    registersItself: registered.module === LockModule,
  }),
);
