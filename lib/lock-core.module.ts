import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { LockExplorer } from './lock.explorer.js';

/** What an application needs once, however many connections it registers. Global, so that it is initialised first. */
@Global()
@Module({ imports: [DiscoveryModule], providers: [LockExplorer] })
export class LockCoreModule {}
