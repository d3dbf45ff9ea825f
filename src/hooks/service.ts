import { subscribe } from '../events'
import { isEventPattern } from '../events/schema'
import { type Call, type Caller, keyIdOf } from '../kernel/caller'
import { iso } from '../kernel/clock'
import type { Values } from '../kernel/config'
import { microToCents } from '../kernel/money'
import { pageFields } from '../kernel/page'
import { createResource, type ResourceDeps, type Whose } from '../resource'
import type { SkillRunRow, SkillRuns } from '../skill-runs'
import type { SkillService } from '../skills'
import type { hookSettings } from './config'
import { configTooLarge, noSkillNamed, oneOfTwo, unknownPreset, unknownSkill, wrongPattern } from './errors'
import { registerFirings } from './fire'
import { PRESETS } from './presets'
import { hook } from './resource'
import type { HookExecution, HookHistory, HookId, HookPatch, HookQuery, NewHook } from './schema'

type Deps = Omit<Parameters<typeof registerFirings>[0], 'store' | 'clock'> & {
  resources: ResourceDeps
  skills: Pick<SkillService, 'runnable'>
  runs: SkillRuns
  settings: Values<typeof hookSettings>
}

export type HookService = ReturnType<typeof createHooks>

const MOST_CONFIG_KB = 16

/** Hooks: skills that run when something happens (contract 11.1). */
export function createHooks({ resources, skills, runs, settings, ...rooms }: Deps) {
  const { store, clock } = resources
  const hooks = createResource(resources, hook, {
    most: settings.maxHooks,
    read: async (sent, call, before) => (before ? readPatch(sent) : readNew(sent, call)),
    changed: (tx, { verb, row }) => {
      const patterns = verb !== 'deleted' && row.enabled ? [row.pattern] : []
      return subscribe(tx, { owner: row.owner, subscriber: 'hook', target: row.id }, patterns)
    },
    answer: (_, { verb }) => (verb === 'updated' ? { updated: true } : {}),
  })
  registerFirings({ ...rooms, runs, store, clock })
  return { hooks, list, history }

  async function readNew(order: NewHook, { caller }: Call<Caller>) {
    const { hook_preset_id, event_pattern, skill_slug, cooldown_minutes, name, config } = order
    if ((hook_preset_id === undefined) === (event_pattern === undefined)) throw oneOfTwo()
    const preset = PRESETS.find(({ id }) => id === hook_preset_id)
    if (hook_preset_id !== undefined && !preset) throw unknownPreset(hook_preset_id)
    const pattern = preset?.event_pattern ?? event_pattern!
    if (!isEventPattern(pattern)) throw wrongPattern(pattern)
    const slug = skill_slug ?? preset?.default_skill
    if (slug === undefined) throw noSkillNamed()
    const skill = await skills.runnable(caller, slug)
    if (!skill) throw unknownSkill(slug)
    assertSize(config)
    return {
      name,
      api_key_id: caller.type === 'operator' ? null : keyIdOf(caller),
      preset: preset?.id ?? null,
      pattern,
      skill_id: skill.id,
      slug: skill.slug,
      cooldown_minutes,
      config,
    }
  }

  function readPatch({ enabled, cooldown_minutes, name, config }: HookPatch) {
    assertSize(config)
    return {
      name,
      enabled,
      cooldown_minutes,
      config,
      ...(enabled ? { consecutive_failures: 0, disabled_reason: null } : {}),
    }
  }

  /** With the presets, whoever asks. */
  async function list(call: Call<Caller>, query: HookQuery, whose: Whose) {
    const page = await hooks.list(call, query, whose)
    return { hooks: page.items, presets: [...PRESETS], ...pageFields(page) }
  }

  /** A hook, and what came of its events, newest first. */
  async function history({ caller }: Call<Caller>, id: string, query: HookQuery): Promise<HookHistory> {
    const found = await hooks.find(store.read, caller, id)
    const page = await runs.list(store.read, found.id, query)
    return { hook: hook.present(found), executions: page.items.map(presentRun), ...pageFields(page) }
  }
}

const assertSize = (config: object | undefined): void => {
  if (config && Buffer.byteLength(JSON.stringify(config)) > MOST_CONFIG_KB * 1024) throw configTooLarge(MOST_CONFIG_KB)
}

const presentRun = (run: SkillRunRow): HookExecution => ({
  id: run.id,
  hookId: run.source as HookId,
  status: run.status,
  ...(run.event_id === null ? {} : { eventId: run.event_id }),
  ...(run.error === null ? {} : { error: run.error }),
  output: run.output,
  costCents: microToCents(run.cost_micro),
  createdAt: iso(run.created_at),
  ...(run.completed_at === null ? {} : { completedAt: iso(run.completed_at) }),
})
