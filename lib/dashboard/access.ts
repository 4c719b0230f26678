import { ForbiddenException, Logger } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { DashboardAction } from './answers.js';
import { isNavigation, refusalOfAction, refusalOfReading } from './cross-site.js';
import type { ResolvedDashboardOptions } from './dashboard.options.js';
import type { PageRequest } from './reply.js';

const OPEN_BY_DEFAULT: readonly (string | undefined)[] = ['development', 'test'];
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD'];

/** The metadata of the handler of the document. */
export const IS_DOCUMENT = Symbol('nestjs-distributed-lock:is-document');

/** The rights of one request that was let in. */
export interface Rights {
  /** The actions that are opened, and that this request may do. */
  readonly actions: readonly DashboardAction[];
  /** The person behind it, for the log. */
  readonly who: string | undefined;
}

/**
 * The rule of every route of the page: the document, its files, the data and the actions. It comes after the guards of
 * the application and of the module. A request without a safe method is an action, whatever its route.
 */
export class DashboardAccess {
  readonly #options: ResolvedDashboardOptions;
  readonly #isOpen: boolean;
  readonly #rights = new WeakMap<object, Rights>();
  readonly #logger = new Logger('LockDashboard');
  #hasSaidWhy = false;

  constructor(options: ResolvedDashboardOptions, hasGuards: boolean) {
    this.#options = options;
    this.#isOpen = hasGuards || options.authorize !== undefined || OPEN_BY_DEFAULT.includes(process.env.NODE_ENV);
  }

  /** Lets the request in. @throws ForbiddenException that says why not */
  async enter(context: ExecutionContext): Promise<void> {
    if (!this.#isOpen) this.#sayWhy();
    if (!this.#isOpen || !(await this.#allows(context, 'view'))) throw new ForbiddenException();
    const request = context.switchToHttp().getRequest<PageRequest>();
    const { headers, method, params } = request;
    // The document has no data, so somebody may come to it by a link, or back from a single sign-on.
    const isOpened = isNavigation(headers) && Reflect.getMetadata(IS_DOCUMENT, context.getHandler()) === true;
    const refusal = isOpened ? undefined : refusalOfReading(headers, this.#options.allowedOrigins);
    if (refusal !== undefined) throw new ForbiddenException(`the request was refused: ${refusal}`);
    const actions = await this.#actionsOf(context);
    if (!SAFE_METHODS.includes(method)) this.#checkAction(request, actions, params?.action);
    this.#rights.set(request, { actions, who: this.#options.who?.(context) });
  }

  /** Returns the rights of a request that was let in. */
  rightsOf(request: PageRequest): Rights {
    return this.#rights.get(request) ?? { actions: [], who: undefined };
  }

  /** Refuses an action that is not opened, or that another site has made a browser send. */
  #checkAction({ headers }: PageRequest, actions: readonly unknown[], action: unknown): void {
    const refusal = refusalOfAction(headers, this.#options.allowedOrigins);
    if (refusal !== undefined) throw new ForbiddenException(`the action was refused: ${refusal}`);
    if (!actions.includes(action)) throw new ForbiddenException('the action was refused: it is not among yours');
  }

  async #actionsOf(context: ExecutionContext): Promise<readonly DashboardAction[]> {
    const { actions } = this.#options;
    const allowed = await Promise.all(actions.map((action) => this.#allows(context, action)));
    return actions.filter((_action, place) => allowed[place]);
  }

  async #allows(context: ExecutionContext, action: DashboardAction | 'view'): Promise<boolean> {
    const { authorize } = this.#options;
    return authorize === undefined || (await authorize(context, action)) === true;
  }

  #sayWhy(): void {
    if (this.#hasSaidWhy) return;
    this.#hasSaidWhy = true;
    this.#logger.warn(
      'the page refuses every request: LockDashboardModule has neither authorize nor guards, and NODE_ENV is neither ' +
        'development nor test',
    );
  }
}
