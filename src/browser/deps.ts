import type { BackgroundCallers } from '../accounts'
import type { AuditLog } from '../audit'
import type { Billing } from '../billing'
import type { ChargingService } from '../charging'
import type { Live } from '../cluster'
import type { EngineService } from '../engines'
import type { EventBus } from '../events'
import type { Files } from '../files'
import type { Takeovers } from '../jobs'
import type { Clock } from '../kernel/clock'
import type { Values } from '../kernel/config'
import type { Log } from '../kernel/log'
import type { Outbound } from '../kernel/outbound'
import type { Store } from '../kernel/store'
import type { UsageLog } from '../usage'
import type { browserSettings } from './config'
import type { Control } from './control'
import type { Host } from './host'
import type { EmbedTokens } from './present'

/** Dependencies from other modules. */
export type OtherModules = {
  store: Store
  clock: Clock
  log: Log
  /** Id of this process. */
  node: string
  masterKey: Uint8Array
  origin(): string
  outbound: Outbound
  audit: AuditLog
  events: EventBus
  billing: Billing
  usage: UsageLog
  files: Files
  takeovers: Pick<Takeovers, 'of'>
  engines: EngineService
  live: Live
  charging: ChargingService
  unattended: BackgroundCallers
  settings: Values<typeof browserSettings>
}

/** First parameter of this module's functions. */
export type Deps = OtherModules & { host: Host; control: Control; tokens: EmbedTokens }
