import type { Clock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import type { CreditLots } from './lots'

/** Longest time that expired credit stays in a balance. */
const IDLE_MS = 5_000

type Deps = { lots: CreditLots; clock: Clock; onError(name: string, error: unknown): void }

/** Removes expired credit while the server runs; at start this is done before the first request. */
export const startExpiryLoop = ({ lots, clock, onError }: Deps): Loop =>
  startLoop({ name: 'credit-expiry', idleMs: IDLE_MS, clock, onError, tick: () => lots.expireDue() })
