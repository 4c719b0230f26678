/**
 * Distributed locks for NestJS on Apache ZooKeeper or Redis.
 * @module nestjs-distributed-lock
 */

// The module.
export { LockModule } from './lock.module.js';
export type { LockModuleAsyncOptions } from './lock.module.js';
export type { LockModuleExtras, LockModuleOptions } from './lock.options.js';
export {
  getCoordinationToken,
  getCronRunsToken,
  getLeaderElectionToken,
  getLockServiceToken,
  InjectCoordination,
  InjectCronRuns,
  InjectLeaderElection,
  InjectLocks,
} from './lock.tokens.js';

// Backends.
export { zookeeper } from './zookeeper/zookeeper.backend.js';
export type { ZooKeeperAcl, ZooKeeperAuth, ZooKeeperOptions, ZooKeeperTls } from './zookeeper/zookeeper.options.js';

// Decorators.
export { CronLock } from './decorators/cron-lock.decorator.js';
export type { CronLockDecorator } from './decorators/method-check.js';
export type { CronLockOptions } from './schedule/cron-lock.options.js';
export { DistributedLock } from './decorators/distributed-lock.decorator.js';
export { LeaderOnly } from './decorators/leader-only.decorator.js';
export type { LeaderOnlyOptions } from './decorators/leader-only.decorator.js';
export { OnDeposed, OnElected } from './decorators/election-hook.decorator.js';
export type { ElectionHookDecorator, ElectionHookOptions } from './decorators/election-hook.decorator.js';
export { OutsideLock } from './decorators/outside-lock.decorator.js';
export { ReadLock, WriteLock } from './decorators/read-write-lock.decorator.js';
export type { ReadLockOptions, WriteLockOptions } from './decorators/read-write-lock.decorator.js';
export { SegmentLock } from './decorators/segment-lock.decorator.js';
export type { SegmentLockOptions, SegmentRouteBy } from './decorators/segment-lock.decorator.js';
export { Semaphore } from './decorators/semaphore.decorator.js';
export type { SemaphoreDecoratorOptions } from './decorators/semaphore.decorator.js';
export { LockInterceptor } from './decorators/lock.interceptor.js';
export type { LockKey, LockKeys } from './decorators/lock-key.js';
export type { DistributedLockOptions, LockingOptions } from './decorators/locking.options.js';
export type { ContentionContext, ContentionHandler, OnContention } from './contract/acquire.options.js';
export type { LockDecorator } from './decorators/method-check.js';

// Keys.
export { key } from './contract/key.js';
export type { KeyValue } from './contract/key.js';

// Services, locks and leases.
export { LockService } from './service/lock.service.js';
export type { GlobalTransaction, GlobalTransactionOptions, RowLeases } from './service/global-transaction.js';
export type { LockSurvey, LockSurveyKey, LockSurveyQueue, SurveyOptions } from './service/survey.js';
export type { SurveyedKind } from './contract/survey.js';
export type { MutexOptions } from './service/lock-service.options.js';
export type { AtomicMultiLock } from './service/multi-locks.js';
export type { MultiOptions } from './service/multi-locks.js';
export type { HoldingOptions } from './contract/acquire.options.js';
export type { SharingOptions } from './service/lock-service.options.js';
export type { Contender, ContenderOwner } from './contract/contender.js';
export { assertHeld, currentLease } from './service/hold-scope.js';
export { LeaderElectionService } from './elections/leader-election.service.js';
export type { ObserveOptions } from './elections/leader-election.service.js';
export type { CampaignOptions } from './elections/campaign.options.js';
export { currentTerm } from './elections/entered-term.js';
export type { Leader } from './contract/elections.js';
export type { Term } from './contract/elections.js';
export { CronRunsService } from './schedule/cron-runs.service.js';
export type { PeekedRun } from './schedule/cron-runs.service.js';
export { currentRun } from './schedule/current-run.js';
export type { JobEvent, SkippedEvent, SkipReason } from './contract/job-event.js';
export type { JobRun, JobRunState, Runner } from './contract/job-event.js';
export type { MultiLease } from './composite/multi-lease.js';
export type { MultiLock } from './composite/multi-lock.js';
export { currentSegment } from './service/segments.js';
export type { Migrate, SegmentChange } from './composite/segment-resize.js';
export type { SegmentedLock } from './composite/segmented-lock.js';
export type {
  SegmentAcquireOptions,
  SegmentLease,
  SegmentLeaseJson,
  SegmentUsingOptions,
} from './contract/segment.options.js';
export type { SegmentOptions, SegmentRoute } from './contract/segment.options.js';
export type { Deduction, Leftover } from './stock/deduction.js';
export type { AddRequest, PutBackRequest, SegmentRequest, SegmentStore, TakeRequest } from './stock/stock-keeper.js';
export type { SegmentedStock } from './stock/segmented-stock.js';
export type { StockPart } from './stock/stock-plan.js';
export type {
  DeductOptions,
  ForgetOptions,
  RestockOptions,
  StockCallOptions,
  StockOptions,
} from './stock/stock.options.js';
export type { Lease, LeaseJson, LeaseMode, LeaseState } from './contract/lease.js';
export type { AcquireOptions, Lock, ReadWriteLock, UsingOptions } from './contract/lock.js';
export type { SemaphoreLock } from './contract/semaphore.options.js';
export type { SemaphoreAcquireOptions, SemaphoreOptions, SemaphoreUsingOptions } from './contract/semaphore.options.js';
export type { RevokeOptions } from './contract/revoke.options.js';

// Queues, barriers and shared values.
export { CoordinationService } from './coordination/coordination.service.js';
export type { SharedCounterOptions, SharedValueOptions } from './coordination/coordination.service.js';
export type { Barrier } from './coordination/barrier.js';
export type { BarrierMember } from './coordination/double-barrier.js';
export type { Codec, CodecOption } from './coordination/codec.js';
export type { DoubleBarrier, DoubleBarrierOptions, EnterOptions } from './coordination/double-barrier.js';
export type { Queue } from './coordination/queue.js';
export type { QueueItem } from './coordination/queue.js';
export type { ConsumeOptions, QueueOptions, TakeBatchOptions, TakeOptions } from './coordination/queue.options.js';
export type { SharedCounter } from './coordination/shared-value.js';
export type { SharedValue, Versioned } from './coordination/shared-value.js';
export type { CallOptions, WaitOptions } from './coordination/waiting.js';

// Events.
export { channels } from './contract/channels.js';
export type {
  CronEvent,
  ElectionEvent,
  EventChannel,
  EventOrigin,
  HoldEvent,
  LeaseEvent,
  LeaseFailureEvent,
  LeaseOverdueEvent,
  LocalEndEvent,
  LockKind,
  MissReason,
  ObservedRequest,
  OriginatedEvent,
  QueueEvent,
  RequestEndEvent,
  RequestEvent,
  RequestGrantEvent,
  RequestMissEvent,
  RequestStartEvent,
  RevokeEvent,
  SessionEvent,
  StockEvent,
  WorkWrapper,
} from './contract/channels.js';
export type { LockEventListener, LockEvents, LockEventTypes } from './service/lock-events.js';
export type {
  BackendVitals,
  SessionChange,
  SessionState,
  Survey,
  SurveyedKey,
  SurveyedQueue,
  SurveyQuestion,
} from './contract/survey.js';

// The errors that remote clients see.
export { LockExceptionFilter } from './transports/lock-exception.filter.js';
export type { LockExceptionFilterOptions, PublicLockError } from './transports/public-error.js';

// Errors.
export {
  LockConfigurationError,
  LockError,
  LockLostError,
  LockNotLeaderError,
  LockOverdueError,
  LockReentrancyError,
  LockRevokedError,
  LockShutdownError,
  LockTimeoutError,
  LockUnavailableError,
} from './contract/errors.js';
export type { LockErrorCode, LockErrorDetails } from './contract/errors.js';

// For authors of backends.
export { GrantedLease } from './contract/granted-lease.js';
export type { Demand, Grant, LeaseFollower } from './contract/granted-lease.js';
export type { Barriers, EnteredMember, EnterRequest, PassRequest } from './contract/coordination-backend.js';
export type { Cell, CellChange, Cells, CellWrite } from './contract/coordination-backend.js';
export type { CoordinationBackend } from './contract/coordination-backend.js';
export type { QueuePutRequest, Queues, QueueTakeRequest, TakenItem } from './contract/coordination-backend.js';
export type { BackendGuarantees } from './contract/backend-guarantees.js';
export type {
  BackendState,
  ConnectionLog,
  HoldersQuestion,
  LockBackend,
  LockBackendDefinition,
} from './contract/lock-backend.js';
export type { CampaignRequest, Elections, Sighting, WonElection } from './contract/elections.js';
export { nameOf } from './contract/lock-request.js';
export type { KeyedRequest } from './contract/lock-request.js';
export type { Line, LockRequest, PermitDemand, SemaphoreSize } from './contract/lock-request.js';
export type { PermitCounts } from './contract/semaphore.options.js';
export type { ResolvedRevokeOptions } from './contract/revoke.options.js';
export { checkChanges, LARGEST_VALUE_BYTES, LARGEST_WRITE_BYTES } from './contract/record-store.js';
export { UNCHANGED } from './contract/record-store.js';
export type { RecordChange, RecordStore, RecordWrite, StoredRecord } from './contract/record-store.js';
