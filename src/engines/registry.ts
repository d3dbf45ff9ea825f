import type { PriceTable } from '../billing/schema'
import type { Clock } from '../kernel/clock'
import { ConfigError } from '../kernel/config'
import { invalidInput } from '../kernel/errors'
import { errorFields, type Log } from '../kernel/log'
import { type Loop, startLoop } from '../kernel/loop'
import type { Store, Tx } from '../kernel/store'
import { sameInWork } from '../kernel/work'
import { type EngineConfig, type EngineSettings, readEngineConfig, upstreamPrices } from './config'
import { type KeptEngines, keptRepository, NOTHING_KEPT } from './kept'

type Settings = EngineSettings & { prices: PriceTable }

/** Everything that is set of engines, as it was at one moment; never changed. */
export type EngineVersion = {
  revision: number
  kept: KeptEngines
  config: EngineConfig
  prices: { own: PriceTable; ofUpstreams: PriceTable }
}

export type EngineRegistry = ReturnType<typeof createEngineRegistry>

type Deps = { store: Store; settings: Settings; masterKey: Uint8Array; log: Log }

/** How often a node looks for changes that another one made: they are seen everywhere within a second (I26). */
const LOOK_MS = 500
/** While the database is away. */
const LONGEST_NAP_MS = 2_000

/**
 * The engine settings of this process: those of file and environment, and before them what operators changed while
 * servers ran, which the database keeps for all nodes. A change makes a new version; a request or job goes on with the
 * one that it began with.
 * @throws ConfigError when the settings contradict each other
 */
export function createEngineRegistry({ store, settings, masterKey, log }: Deps) {
  let newest = versionOf(settings, { revision: 0, kept: NOTHING_KEPT })
  const listeners: ((version: EngineVersion) => void)[] = []

  return {
    /** The version that this request or job began with. */
    version: (): EngineVersion => sameInWork(refresh, () => newest),
    newest: (): EngineVersion => newest,
    refresh,

    /** Calls `listener` with the newest version, and with each next one before anything begins with it. */
    follow(listener: (version: EngineVersion) => void): void {
      listeners.push(listener)
      listener(newest)
    },

    /** What the settings would be with this kept. Throws 400 `validation_error` for what contradicts itself. */
    with: (kept: KeptEngines): EngineVersion => checkedVersion({ revision: newest.revision, kept }),

    /**
     * Changes what is kept, in one unit with what `unit` writes; it is in use here once that is durable. Throws what
     * `unit` throws, and 400 `validation_error` for settings that contradict each other; then nothing has changed.
     */
    change: <T>(unit: (tx: Tx, before: EngineVersion) => Promise<{ kept: KeptEngines; answer: T }>): Promise<T> =>
      store.write(async (tx) => {
        const claimed = await keptRepository.claim(tx, masterKey)
        const { kept, answer } = await unit(tx, versionOf(settings, claimed))
        const after = checkedVersion({ revision: claimed.revision, kept })
        await keptRepository.write(tx, masterKey, kept)
        tx.afterCommit(() => use(after))
        return answer
      }),
  }

  function checkedVersion(of: Pick<EngineVersion, 'revision' | 'kept'>): EngineVersion {
    try {
      return versionOf(settings, of)
    } catch (error) {
      throw error instanceof ConfigError ? invalidInput('engines', error.problems.join(' ')) : error
    }
  }

  /** Reads what another process changed. Throws ConfigError where that contradicts the settings of this one. */
  async function refresh(): Promise<void> {
    if ((await keptRepository.revision(store.read)) <= newest.revision) return
    const found = await keptRepository.read(store.read, masterKey).catch((error: unknown) => {
      log.error(errorFields(error), 'the engine settings in the database cannot be opened and are not used')
      return null
    })
    if (found) use(versionOf(settings, found))
  }

  function use(version: EngineVersion): void {
    if (version.revision <= newest.revision) return
    for (const listener of listeners) listener(version)
    newest = version
  }
}

/** @throws ConfigError when the settings contradict each other */
export function versionOf(
  settings: Settings,
  { revision, kept }: Pick<EngineVersion, 'revision' | 'kept'>,
): EngineVersion {
  const config = readEngineConfig(settings, kept)
  const changed = Object.entries(kept.prices).map(([id, price]) => [id, { ...settings.prices[id], ...price }] as const)
  const own = { ...settings.prices, ...Object.fromEntries(changed) }
  return { revision, kept, config, prices: { own, ofUpstreams: upstreamPrices(config) } }
}

type LoopDeps = { registry: EngineRegistry; clock: Clock; onError(name: string, error: unknown): void }

/** Looks for changes of other nodes until stopped. */
export function startEngineSettingsLoop({ registry, ...own }: LoopDeps): Loop {
  const tick = async () => {
    await registry.refresh()
    return 0
  }
  return startLoop({ name: 'engine-settings', idleMs: () => LOOK_MS, longestNapMs: LONGEST_NAP_MS, tick, ...own })
}
