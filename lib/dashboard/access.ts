import { ForbiddenException, Logger } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { DashboardAction } from './answers.js';
import { refusalOfAction, refusalOfReading } from './cross-site.js';
import type { ResolvedDashboardOptions } from './dashboard.options.js';
import type { PageRequest } from './reply.js';

const OPEN_BY_DEFAULT: readonly (string | undefined)[] = ['development', 'test'];

/**
 * The rule of every route of the page: the document, its files, the data and the actions. It runs after the guards of the
 * application and of the module.
 */
export class DashboardAccess implements CanActivate {
  readonly #options: ResolvedDashboardOptions;
  readonly #isOpen: boolean;
  readonly #logger = new Logger('LockDashboard');
  #hasSaidWhy = false;

  constructor(options: ResolvedDashboardOptions, hasGuards: boolean) {
    this.#options = options;
    this.#isOpen = hasGuards || options.authorize !== undefined || OPEN_BY_DEFAULT.includes(process.env.NODE_ENV);
  }

  /** @throws ForbiddenException */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (!this.#isOpen) this.#sayWhy();
    if (!this.#isOpen || !(await this.isAllowed(context, 'view'))) throw new ForbiddenException();
    const { headers } = context.switchToHttp().getRequest<PageRequest>();
    const refusal = refusalOfReading(headers, this.#options.allowedOrigins);
    if (refusal !== undefined) throw new ForbiddenException(`the request was refused: ${refusal}`);
    return true;
  }

  /**
   * Refuses an action that is not opened, that this request has no right to, or that another site has made a browser
   * send.
   * @throws ForbiddenException that says why
   */
  async checkAction(context: ExecutionContext, action: DashboardAction): Promise<void> {
    const { headers } = context.switchToHttp().getRequest<PageRequest>();
    const refusal = refusalOfAction(headers, this.#options.allowedOrigins);
    if (refusal !== undefined) throw new ForbiddenException(`the action was refused: ${refusal}`);
    if ((await this.actionsOf(context)).includes(action)) return;
    throw new ForbiddenException(`the action was refused: "${action}" is not among your actions`);
  }

  /** Returns the actions that are opened and that this request has the right to. */
  async actionsOf(context: ExecutionContext): Promise<readonly DashboardAction[]> {
    const { actions } = this.#options;
    const allowed = await Promise.all(actions.map((action) => this.isAllowed(context, action)));
    return actions.filter((_action, place) => allowed[place]);
  }

  private async isAllowed(context: ExecutionContext, action: DashboardAction | 'view'): Promise<boolean> {
    const { authorize } = this.#options;
    return authorize === undefined || (await authorize(context, action)) === true;
  }

  #sayWhy(): void {
    if (this.#hasSaidWhy) return;
    this.#hasSaidWhy = true;
    this.#logger.warn(
      'the page refuses every request: LockDashboardModule has neither authorize nor guards, and NODE_ENV is neither development nor test',
    );
  }
}
