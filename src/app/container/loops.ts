import { startCheckpointLoop } from '../../audit'
import { startAccessLoop, startSessionLoop } from '../../auth'
import { startBillingLoops } from '../../billing'
import { startIdempotencyLoop } from '../../idempotency'
import { startLastUsedLoop } from '../../keys'
import { startLostRunsLoop } from '../../skill-runs'
import { startRefusalLoop, startRollupLoop } from '../../usage'
import type { Accounts } from './accounts'
import type { Deps } from './deps'
import type { Foundation } from './foundation'
import type { Work } from './work'

/** Starts the background loops, once the server listens (design 6). */
export function startLoops({ store, clock, node }: Deps, rooms: Foundation & Accounts & Work) {
  const {
    audit,
    usage,
    billing,
    moneyDesk,
    keyUses,
    sessionUses,
    idempotency,
    checkpoints,
    skillRuns,
    access,
    attempts,
    onError,
  } = rooms
  return [
    startRollupLoop({ store, clock, onError }),
    startRefusalLoop({ refusals: usage.refusals, store, clock, onError }),
    ...startBillingLoops({ store, clock, audit, node, billing, onError }),
    moneyDesk.topUps.start(onError),
    startLastUsedLoop({ store, sightings: keyUses, clock, onError }),
    startSessionLoop({ store, sightings: sessionUses, attempts, clock, onError }),
    startAccessLoop({ access, clock, onError }),
    startIdempotencyLoop({ idempotency, clock, onError }),
    startCheckpointLoop({ checkpoints, clock, onError }),
    startLostRunsLoop({ runs: skillRuns, clock, onError }),
  ]
}
