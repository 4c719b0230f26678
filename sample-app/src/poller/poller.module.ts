import { Module } from '@nestjs/common';
import { PollerController } from './poller.controller.js';
import { PollerService } from './poller.service.js';

@Module({ controllers: [PollerController], providers: [PollerService] })
export class PollerModule {}
