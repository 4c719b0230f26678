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
  UseGuards,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Dashboard } from './dashboard.js';
import type { DashboardAction } from './answers.js';
import { baseOf, pageDocument } from './page-files.js';
import { json, writeAnswer } from './reply.js';
import type { Answer, PageRequest } from './reply.js';

/** The parts of a page that must be known before the application is built. */
export interface PlacedPage {
  readonly path: string;
  readonly guards: readonly (CanActivate | Type<CanActivate>)[];
  /** The token of the page's `Dashboard`. */
  readonly dashboard: symbol;
}

/**
 * Returns a controller of its own for each registration: the path is metadata of its class, and two applications in one
 * process may have two paths.
 */
export function controllerOf({ path, guards, dashboard: token }: PlacedPage): Type<object> {
  @Injectable()
  class LockDashboardGuard implements CanActivate {
    // No #private members here: Nest may be configured to wrap its providers in a Proxy, which has none.
    constructor(@Inject(token) private readonly dashboard: Dashboard) {}

    async canActivate(context: ExecutionContext): Promise<boolean> {
      await this.dashboard.access.enter(context);
      return true;
    }
  }

  // On the class, so that no route is without them.
  @UseGuards(...guards, LockDashboardGuard)
  @Controller({ path, version: VERSION_NEUTRAL })
  class LockDashboardController {
    constructor(
      @Inject(token) private readonly dashboard: Dashboard,
      @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
    ) {}

    @Get()
    page(@Req() request: PageRequest, @Res() response: unknown): void {
      const base = baseOf(request.originalUrl ?? request.url, this.dashboard.options.publicPath);
      this.write(request, response, { text: pageDocument(base), type: 'text/html; charset=utf-8' });
    }

    @Get('assets/:file')
    file(@Req() request: PageRequest, @Res() response: unknown): void {
      const file = this.dashboard.files.get(String(request.params?.file));
      if (!file) throw new NotFoundException();
      this.write(request, response, { ...file, etag: file.etag, cache: 'no-cache' });
    }

    @Get('api/state')
    async state(@Req() request: PageRequest, @Res() response: unknown): Promise<void> {
      const rights = this.dashboard.access.rightsOf(request);
      this.write(request, response, json(await this.dashboard.state(request.query ?? {}, rights)));
    }

    @Get('api/key')
    async key(@Req() request: PageRequest, @Res() response: unknown): Promise<void> {
      this.write(request, response, json(await this.dashboard.key(request.query ?? {})));
    }

    // Its guard has checked the action, and that the page itself has sent it.
    @Post('api/actions/:action')
    @HttpCode(202)
    async act(@Req() request: PageRequest, @Res() response: unknown): Promise<void> {
      const action = String(request.params?.action) as DashboardAction;
      await this.dashboard.act(action, request.body, this.dashboard.access.rightsOf(request));
      this.write(request, response, json({ accepted: action }, 202));
    }

    private write(request: PageRequest, response: unknown, answer: Answer): void {
      writeAnswer(this.host, request, response, answer);
    }
  }

  // Neither Swagger's document nor the throttler is about this page.
  Reflect.defineMetadata('swagger/apiExcludeController', [true], LockDashboardController);
  Reflect.defineMetadata('THROTTLER:SKIPdefault', true, LockDashboardController);
  return LockDashboardController;
}
