import type { LRUCache } from 'lru-cache'
import type { OrgService } from '../accounts'
import type { AuditLog } from '../audit'
import type { Live } from '../cluster'
import type { CompletionService } from '../completions'
import type { EngineService } from '../engines'
import type { EventBus } from '../events'
import type { Files } from '../files'
import type { Jobs, Takeovers } from '../jobs'
import type { Caller, KeyCaller, OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { Values } from '../kernel/config'
import type { KeyId } from '../kernel/ids'
import type { Outbound } from '../kernel/outbound'
import type { Reader, Store } from '../kernel/store'
import type { RateLimiter } from '../limits'
import type { ResourceDeps } from '../resource'
import type { ConversationService, SkillService } from '../skills'
import type { Send } from '../webhooks'
import type { widgetSettings } from './config'
import type { Waiting } from './operators'
import type { WidgetRow } from './table'
import type { Recent } from './transcript'

/** Dependencies from other modules. */
export type OtherModules = {
  resources: ResourceDeps
  clock: Clock
  audit: AuditLog
  events: EventBus
  live: Live
  takeovers: Takeovers
  jobs: Pick<Jobs, 'register' | 'enqueue'>
  webhooks: { send: Send }
  /** The secret that signs calls to addresses of this owner. */
  secretOf(owner: OwnerScope): string
  files: Pick<Files, 'receive' | 'add' | 'discard' | 'find'>
  engines: Pick<EngineService, 'knowsMode'>
  completions: Pick<CompletionService, 'pipeline'>
  conversations: Pick<ConversationService, 'start' | 'append'>
  limiter: Pick<RateLimiter, 'admitRequest'>
  skills: Pick<SkillService, 'onlyNamed' | 'runnable'>
  /** The caller that a widget's answers run as. Null if its key no longer works. */
  keyOf(id: KeyId): Promise<KeyCaller | null>
  outbound: Pick<Outbound, 'fetchPublic' | 'readUrl' | 'assertPublicUrl'>
  orgs: Pick<OrgService, 'user' | 'userByEmail' | 'roleOf'>
  masterKey: Uint8Array
  origin(): string
  settings: Values<typeof widgetSettings>
  /** The TXT records of a name. Default: from this system's resolver. */
  txtOf?: (name: string) => Promise<string[][]>
  /** Aborts when the server stops. */
  stopping: AbortSignal
  onError(name: string, error: unknown): void
}

/** First parameter of this module's functions. */
export type Deps = OtherModules & {
  store: Store
  /** Tracks who answers in each chat. */
  chats: ReturnType<Takeovers['of']>
  recent: Recent
  /** Queued replies of people, by owner. An entry exists while a commit runs. */
  replies: Map<OwnerScope, Waiting[]>
  /** When listeners were last notified that a visitor is typing, by the monotonic clock. */
  typingShownAt: LRUCache<string, number>
  /** Throws 404 for a widget that does not belong to the caller. */
  findWidget(reader: Reader, caller: Caller, id: string): Promise<WidgetRow>
}
