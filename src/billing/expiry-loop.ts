import type { Clock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import type { CreditLots } from './lots'

/** How long credit may outlive its end. */
const IDLE_MS = 5_000

type Deps = { lots: CreditLots; clock: Clock; onError(name: string, error: unknown): void }

/** Takes credit that has ended while the server runs; at start it is taken before the first request. */
export const startExpiryLoop = ({ lots, clock, onError }: Deps): Loop =>
  startLoop({ name: 'credit-expiry', idleMs: IDLE_MS, clock, onError, tick: () => lots.expireDue() })
