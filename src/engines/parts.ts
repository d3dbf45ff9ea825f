import { readFileSync } from 'node:fs'
import type { Clock } from '../kernel/clock'
import { ConfigError } from '../kernel/config'
import type { Log } from '../kernel/log'
import { type AddressCheck, createAddressCheck } from './addresses'
import type { UpstreamConfig } from './config'
import { createAiSdkDriver } from './drivers/ai-sdk-client'
import { VENDOR_URLS, type Vendor } from './drivers/ai-sdk-watched-fetch'
import { createCompatDriver } from './drivers/compat-client'
import { createCompatEmbeddings } from './drivers/compat-embeddings'
import { createCompatSpeech, createCompatTranscription, createCompatVideos } from './drivers/compat-media'
import { headersOf } from './drivers/upstream'
import { type Driver, EngineFailure } from './engine'
import { createTargetBreaker, type TargetBreaker } from './health'
import type { Abilities } from './targets'
import { type ConcurrencySlots, createConcurrencySlots } from './targets'

/** Why a target refuses its key or model, which only the operator can fix. Lasts until it answers again. */
export type Fault = { why: string | null; found(why: string): void; gone(): void }

/** Whether an upstream answers, according to the last call or probe. */
export type Presence = {
  /** Why and when the last call or probe failed; null if it succeeded or there was none. */
  left: { why: string; at: number } | null
  /** Why it failed, if that was within the last 30 s. */
  away(): string | null
  gone(why: string): void
  back(): void
}

/** State of one model at one upstream. `stated` holds the abilities that the upstream last stated. */
type ModelPart = { breaker: TargetBreaker; fault: Fault; stated: Abilities }

/** State and driver of one upstream. */
export type UpstreamPart = {
  driver: Driver
  /** Null for the built-in engine, which has no address. */
  fit: AddressCheck | null
  presence: Presence
  /** Slots for concurrent calls; null if there is no limit. */
  slots: ConcurrencySlots | null
  model(id: string): ModelPart
}

/** `changed` is called after every change of a breaker or a fault. */
export type PartDeps = { clock: Clock; log: Log; changed(): void }

const PROBE_TIMEOUT_MS = 3_000
/** How long a failed probe counts: as long as GET /health is cached. */
const FRESH_MS = 30_000

/**
 * State that survives a change of the settings. An upstream with the same address and key keeps its connection and
 * state, and its running calls keep their slots.
 */
export function createParts(deps: PartDeps) {
  let known = new Map<string, { apiKey: string | null; configKey: string; part: UpstreamPart }>()
  return {
    /** The parts of these upstreams. Throws ConfigError if a key file cannot be read. */
    of(upstreams: ReadonlyMap<string, UpstreamConfig>): ReadonlyMap<string, UpstreamPart> {
      const next = new Map(
        [...upstreams].map(([name, upstream]) => {
          const before = known.get(name)
          const apiKey = keyOf(name, upstream, before)
          // The settings that affect calls. Other settings keep the state.
          const { kind, baseUrl, headers, timeoutMs, silenceMs, outputLimitField, ...own } = upstream
          const { imageEdits, thinksFirst, translates, dimensions, batchSize } = own
          const question = JSON.stringify([
            ...[kind, baseUrl, headers, timeoutMs, silenceMs, outputLimitField],
            ...[imageEdits, thinksFirst, translates, dimensions, batchSize],
          ])
          const isSame = before?.configKey === question && before.apiKey === apiKey
          const stored = isSame ? before.part : createPart(name, createDriver({ ...upstream, apiKey }, deps), deps)
          const fit = isSame ? before.part.fit : fitOf({ ...upstream, apiKey }, deps)
          return [
            name,
            {
              apiKey,
              configKey: question,
              part: { ...stored, fit, slots: slotsOf(upstream, before?.part.slots ?? null) },
            },
          ] as const
        }),
      )
      known = next
      return new Map([...next].map(([name, { part }]) => [name, part]))
    },
  }

  /** Keeps the old key if the key file is gone, so that other settings can still change. */
  function keyOf(name: string, upstream: UpstreamConfig, before: { apiKey: string | null } | undefined) {
    try {
      return readKey(name, upstream)
    } catch (error) {
      if (before) return before.apiKey
      throw error
    }
  }

  function slotsOf({ concurrency = 0 }: UpstreamConfig, before: ConcurrencySlots | null): ConcurrencySlots | null {
    before?.resize(concurrency)
    return concurrency === 0 ? null : (before ?? createConcurrencySlots({ concurrency }, deps))
  }
}

export function createPart(name: string, driver: Driver, deps: PartDeps): Omit<UpstreamPart, 'slots' | 'fit'> {
  const models = new Map<string, ModelPart>()
  return {
    driver,
    presence: presenceOf(deps),
    model(id) {
      const found = models.get(id) ?? {
        breaker: breakerOf(`${name}:${id}`, driver, deps),
        fault: faultOf(deps),
        stated: {},
      }
      models.set(id, found)
      return found
    },
  }
}

function presenceOf({ clock, changed }: PartDeps): Presence {
  return {
    left: null,
    away() {
      return this.left && clock.monotonic() - this.left.at < FRESH_MS ? this.left.why : null
    },
    gone(why) {
      if (!this.left) changed()
      this.left = { why, at: clock.monotonic() }
    },
    back() {
      if (this.left) changed()
      this.left = null
    },
  }
}

/** The breaker of a target. Logs every change (docs/api.md 22.3). */
function breakerOf(target: string, driver: Driver, { clock, log, changed }: PartDeps): TargetBreaker {
  return createTargetBreaker({
    clock,
    answers: () => isThere(driver),
    changed({ state, owner, why }) {
      const ownerFilter = owner === null ? 'all' : owner
      log[state === 'open' ? 'warn' : 'info'](
        { target, breaker: state, owners: ownerFilter, why },
        `engine breaker ${state}`,
      )
      changed()
    },
  })
}

function faultOf({ changed }: PartDeps): Fault {
  return {
    why: null,
    found(why) {
      if (this.why !== why) changed()
      this.why = why
    },
    gone() {
      if (this.why !== null) changed()
      this.why = null
    },
  }
}

/** Whether the upstream is reachable. One that refuses the probe is, and its calls will show what is wrong. */
async function isThere(driver: Driver): Promise<boolean> {
  try {
    await driver.probe(AbortSignal.timeout(PROBE_TIMEOUT_MS))
    return true
  } catch (error) {
    return error instanceof EngineFailure && ['config', 'rejected', 'throttled'].includes(error.kind)
  }
}

function fitOf(upstream: Keyed, { clock }: PartDeps): AddressCheck {
  const { kind, baseUrl, apiKey, headers } = upstream
  const base = baseUrl ?? VENDOR_URLS[kind as Vendor]
  return createAddressCheck(base, {
    at: (address) => createDriver({ ...upstream, baseUrl: address }, { clock }),
    headers: headersOf({ baseUrl: base, apiKey, headers: lowerCased(headers), clock }),
    clock,
  })
}

type Keyed = Omit<UpstreamConfig, 'apiKey'> & { apiKey: string | null }

function createDriver(upstream: Keyed, { clock }: Pick<PartDeps, 'clock'>): Driver {
  const { apiKey, timeoutMs, silenceMs, headers, dimensions, batchSize, translates } = upstream
  const media = { dimensions, batchSize, translates }
  const shared = { apiKey, clock, timeoutMs, silenceMs, headers: lowerCased(headers) }
  if (upstream.kind !== 'compat') {
    const driver = createAiSdkDriver({ ...shared, vendor: upstream.kind, baseUrl: upstream.baseUrl ?? null })
    // Google also offers /embeddings, at a separate address for clients of this format.
    if (upstream.kind === 'google')
      return {
        ...driver,
        ...createCompatEmbeddings({ ...shared, ...media, baseUrl: `${upstream.baseUrl ?? VENDOR_URLS.google}/openai` }),
      }
    if (upstream.kind !== 'openai') return driver
    const called = { ...shared, baseUrl: upstream.baseUrl ?? VENDOR_URLS.openai }
    return {
      ...driver,
      ...createCompatSpeech(called),
      ...createCompatTranscription({ ...called, ...media }),
      ...createCompatVideos(called),
      ...createCompatEmbeddings({ ...called, ...media }),
    }
  }
  return createCompatDriver({
    ...shared,
    ...media,
    baseUrl: upstream.baseUrl!,
    outputLimitField: upstream.outputLimitField,
    imageEdits: upstream.imageEdits,
    thinksFirst: upstream.thinksFirst,
  })
}

const lowerCased = (headers: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** Reads the key of an upstream. @throws ConfigError if the key file cannot be read */
export function readKey(name: string, { apiKey, apiKeyFile }: UpstreamConfig): string | null {
  if (!apiKeyFile) return apiKey || null
  try {
    return readFileSync(apiKeyFile, 'utf8').trim() || null
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? 'unreadable'
    throw new ConfigError([`engines.upstreams.${name}.apiKeyFile: ${apiKeyFile} cannot be read (${why}).`])
  }
}
