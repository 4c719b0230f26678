import 'reflect-metadata';
import '@nestjs/core';
import '@nestjs/platform-express';
import '@nestjs/schedule';
import 'nestjs-distributed-lock';
import { once } from 'node:events';

/**
 * How the conductor starts an instance: what takes long to load is loaded while the conductor still starts ZooKeeper;
 * then this process is told its environment, and is an instance as if it had been started with it.
 */
const [env] = (await once(process, 'message')) as [Readonly<Record<string, string>>];
Object.assign(process.env, env);
await import('./main.js');
