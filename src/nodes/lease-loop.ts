import type { Clock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import type { Nodes } from './service'

type Deps = { nodes: Nodes; clock: Clock; onError(name: string, error: unknown): void }

/** A quarter of the lease, so that one late renewal does not end it. */
export const RENEW_MS = 1_500
const ALONE_MS = 60_000

/** Keeps the lease of this process. A database that was away is tried as often as ever: every lease has lapsed then. */
export const startLeaseLoop = ({ nodes, clock, onError }: Deps): Loop =>
  startLoop({
    name: 'node-lease',
    // One process alone has no lease: it would wake for nothing.
    ...(nodes.isCluster ? { idleMs: RENEW_MS, longestNapMs: RENEW_MS } : { idleMs: ALONE_MS }),
    clock,
    onError,
    tick: async () => {
      await nodes.renew()
      return 0
    },
  })
