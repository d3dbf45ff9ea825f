import { assertOrigin, expiredSessions, startAccessLoop, startLastUsedLoop, startSessionLoop } from '../accounts'
import { startCheckpointLoop } from '../audit'
import { expiredCredit, startHoldRecovery } from '../billing'
import { startWatchLoop } from '../browser'
import { startLeaseLoop } from '../cluster'
import { startEngineSettingsLoop, startProbeLoop } from '../engines'
import { expiredFiles, sweptFiles } from '../files'
import { expiredKeys, startIdempotencyLoop } from '../idempotency'
import { type BuiltAssets, buildAssets, createAssets } from '../pages'
import { startRefusalLoop, startRollupLoop } from '../usage'
import { ASSETS, bundled } from './bundle'
import { buildAccounts } from './container-accounts'
import { buildDecisions } from './container-decisions'
import { buildFoundation, type Deps } from './container-foundation'
import { buildWork } from './container-work'

export type Container = ReturnType<typeof buildContainer>

/** Builds every room once, in the order of the architecture: a room receives only rooms that come before it. */
export function buildContainer(deps: Deps) {
  const rooms = buildWork(buildDecisions(buildAccounts(buildFoundation(deps))))
  return {
    ...rooms,
    assertOrigin,
    // The files of the pages: as they were made with the server's bundle, or made now from the sources.
    assets: createAssets(async (): Promise<BuiltAssets> => {
      const file = bundled(ASSETS)
      return file ? Bun.file(file).json() : buildAssets()
    }),
    startLoops: () => startLoops(rooms),
  }
}

/**
 * Starts the background work, once the server listens (design 6): jobs, which all nodes share, and the loops that write
 * what this process remembers or renew what it holds.
 */
function startLoops(rooms: ReturnType<typeof buildWork>) {
  const { store, jobs, billing, idempotency, onError, clock } = rooms
  jobs.register(expiredKeys(idempotency))
  jobs.register(expiredSessions(rooms))
  jobs.register(expiredCredit(billing.expiringGrants))
  jobs.register(rooms.published.tidying())
  jobs.register(rooms.webhooks.tidying())
  jobs.register(expiredFiles(rooms.files))
  jobs.register(sweptFiles({ store, clock, ...rooms.filePlace }))
  return [
    ...(store.dialect === 'postgres' ? [startEngineSettingsLoop({ ...rooms, registry: rooms.engineRegistry })] : []),
    startProbeLoop(rooms),
    startLeaseLoop(rooms),
    rooms.live.start(),
    rooms.widgets.hub.start(),
    startRollupLoop(rooms),
    startRefusalLoop({ ...rooms, refusals: rooms.usage.refusals }),
    startHoldRecovery({ ...rooms, release: billing.release, unended: billing.unended }),
    startLastUsedLoop({ store, sightings: rooms.keyUses, clock, onError }),
    startSessionLoop({ store, sightings: rooms.sessionUses, clock, onError }),
    startAccessLoop(rooms),
    startWatchLoop(rooms.browser.watch, rooms),
    startIdempotencyLoop(rooms),
    startCheckpointLoop(rooms),
    jobs.start(),
  ]
}
