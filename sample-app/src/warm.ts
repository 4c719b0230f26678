import 'reflect-metadata';
import '@nestjs/core';
import '@nestjs/platform-express';
import '@nestjs/schedule';
import '@nestjs/terminus';
import 'nestjs-distributed-lock';
import 'prom-client';
import { once } from 'node:events';

/**
 * The entry point with which the conductor starts an instance. It loads the slow modules while the conductor still
 * starts the server. Then it receives its environment, and continues as an instance that was started with it.
 */
const [env] = (await once(process, 'message')) as [Readonly<Record<string, string>>];
Object.assign(process.env, env);
await import('./main.js');
