import {
  Controller,
  Get,
  HttpCode,
  Inject,
  Injectable,
  NotFoundException,
  Post,
  Req,
  Res,
  SetMetadata,
  UseGuards,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { IS_DOCUMENT } from './access.js';
import type { Dashboard } from './dashboard.js';
import type { DashboardAction } from './answers.js';
import { baseOf, pageDocument } from './page-files.js';
import { json, writeAnswer } from './reply.js';
import type { PageRequest } from './reply.js';

/** The parts of a page that must be known before the application is built. */
export interface PlacedPage {
  readonly path: string;
  readonly guards: readonly (CanActivate | Type<CanActivate>)[];
  /** The token of the page's `Dashboard`. */
  readonly dashboard: symbol;
}

/** Returns the guard of one page. It comes after those of the application and of the module. */
function guardOf(token: symbol): Type<CanActivate> {
  @Injectable()
  class LockDashboardGuard implements CanActivate {
    // No #private members here: Nest may be configured to wrap its providers in a Proxy, which has none.
    constructor(@Inject(token) private readonly dashboard: Dashboard) {}

    async canActivate(context: ExecutionContext): Promise<boolean> {
      await this.dashboard.access.enter(context);
      return true;
    }
  }

  return LockDashboardGuard;
}

/**
 * Returns a controller of its own for each registration: the path is metadata of its class, and two applications in one
 * process may have two paths.
 */
export function controllerOf({ path, guards, dashboard: token }: PlacedPage): Type<object> {
  // On the class, so that no route is without them.
  @UseGuards(...guards, guardOf(token))
  @Controller({ path, version: VERSION_NEUTRAL })
  class LockDashboardController {
    constructor(
      @Inject(token) private readonly dashboard: Dashboard,
      @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
    ) {}

    @Get()
    @SetMetadata(IS_DOCUMENT, true)
    page(@Req() request: PageRequest, @Res() response: unknown): void {
      const base = baseOf(request.originalUrl ?? request.url, this.dashboard.options.publicPath);
      writeAnswer(this.host, request, response, { text: pageDocument(base), type: 'text/html; charset=utf-8' });
    }

    @Get('assets/:file')
    file(@Req() request: PageRequest, @Res() response: unknown): void {
      const file = this.dashboard.files.get(String(request.params?.file));
      if (!file) throw new NotFoundException();
      writeAnswer(this.host, request, response, { ...file, etag: file.etag, cache: 'no-cache' });
    }

    @Get('api/state')
    async state(@Req() request: PageRequest, @Res() response: unknown): Promise<void> {
      const rights = this.dashboard.access.rightsOf(request);
      writeAnswer(this.host, request, response, json(await this.dashboard.state(request.query ?? {}, rights)));
    }

    @Get('api/key')
    async key(@Req() request: PageRequest, @Res() response: unknown): Promise<void> {
      writeAnswer(this.host, request, response, json(await this.dashboard.key(request.query ?? {})));
    }

    // Its guard has checked the action, and that the page itself has sent it.
    @Post('api/actions/:action')
    @HttpCode(202)
    async act(@Req() request: PageRequest, @Res() response: unknown): Promise<void> {
      const action = String(request.params?.action) as DashboardAction;
      await this.dashboard.act(action, request.body, this.dashboard.access.rightsOf(request));
      writeAnswer(this.host, request, response, json({ accepted: action }, 202));
    }
  }

  return apart(LockDashboardController);
}

/** Neither Swagger's document nor the throttler is about this page. */
function apart<T extends object>(controller: T): T {
  Reflect.defineMetadata('swagger/apiExcludeController', [true], controller);
  Reflect.defineMetadata('THROTTLER:SKIPdefault', true, controller);
  return controller;
}
