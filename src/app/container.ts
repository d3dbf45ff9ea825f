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

/** Builds every module once, in the order of the architecture: a module receives only modules that come before it. */
export function buildContainer(deps: Deps) {
  const modules = buildWork(buildDecisions(buildAccounts(buildFoundation(deps))))
  return {
    ...modules,
    assertOrigin,
    // The files of the pages: as they were made with the server's bundle, or made now from the sources.
    assets: createAssets(async (): Promise<BuiltAssets> => {
      const file = bundled(ASSETS)
      return file ? Bun.file(file).json() : buildAssets()
    }),
    startLoops: () => startLoops(modules),
  }
}

/**
 * Starts the background work, once the server listens (design 6): jobs, which all nodes share, and the loops that write
 * what this process remembers or renew what it holds.
 */
function startLoops(modules: ReturnType<typeof buildWork>) {
  const { store, jobs, billing, idempotency, onError, clock } = modules
  jobs.register(expiredKeys(idempotency))
  jobs.register(expiredSessions(modules))
  jobs.register(expiredCredit(billing.expiringGrants))
  jobs.register(modules.published.tidying())
  jobs.register(modules.webhooks.tidying())
  jobs.register(expiredFiles(modules.files))
  jobs.register(sweptFiles({ store, clock, ...modules.filePlace }))
  return [
    ...(store.dialect === 'postgres'
      ? [startEngineSettingsLoop({ ...modules, registry: modules.engineRegistry })]
      : []),
    startProbeLoop(modules),
    startLeaseLoop(modules),
    modules.live.start(),
    modules.widgets.hub.start(),
    startRollupLoop(modules),
    startRefusalLoop({ ...modules, refusals: modules.usage.refusals }),
    startHoldRecovery({ ...modules, release: billing.release, unended: billing.unended }),
    startLastUsedLoop({ store, sightings: modules.keyUses, clock, onError }),
    startSessionLoop({ store, sightings: modules.sessionUses, clock, onError }),
    startAccessLoop(modules),
    startWatchLoop(modules.browser.watch, modules),
    startIdempotencyLoop(modules),
    startCheckpointLoop(modules),
    jobs.start(),
  ]
}
