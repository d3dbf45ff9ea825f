import type { KeyBindings } from '../accounts'
import type { ApiKey } from '../accounts/keys/schema'
import { type Call, type Caller, type OwnerScope, ownerOf, type TenantCaller } from '../kernel/caller'
import type { Values } from '../kernel/config'
import { parsedJson } from '../kernel/json'
import { createReadCache, type ReadCache } from '../kernel/read-cache'
import { createResource, type Resource, type ResourceDeps } from '../resource'
import { GUARDRAILS } from './catalogue'
import type { guardrailSettings } from './config'
import { foreignToKey, guardrailBlocked } from './errors'
import { createGuard, type Guard } from './guard'
import type { GuardrailId, Phase } from './guardrail'
import { createRuleRunner, type RuleRunner } from './inspection-runner'
import { type ModerationOrder, moderate } from './moderations'
import {
  type CompiledPolicy,
  compiledPolicy,
  compilePolicy,
  configSchemaOf,
  dropCompiledPolicy,
  readsRequestsOnly,
  validateContent,
  validateRules,
} from './policy'
import { guardrailPolicy } from './resource'
import type { Evaluated, Evaluation, GuardrailBinding, GuardrailCatalogue, GuardrailPolicyId, Trial } from './schema'
import type { EngineOpinion } from './second-opinion'
import type { PolicyRow } from './table'

export type GuardrailService = ReturnType<typeof createGuardrails>

/** The dependencies of this module's verbs. */
type Deps = {
  resources: ResourceDeps
  bindings: KeyBindings
  policies: Resource<typeof guardrailPolicy>
  lookup: ReturnType<typeof createPolicyLookup>
  runner: RuleRunner
}

/** Guardrail policies: storing, trying out, binding to keys, and guarding runs. */
export function createGuardrails({
  resources,
  bindings,
  settings,
  opinion,
}: Pick<Deps, 'resources' | 'bindings'> & {
  settings: Pick<Values<typeof guardrailSettings>, 'maxPolicies'>
  opinion: EngineOpinion | null
}) {
  const lookup = createPolicyLookup(resources)
  const policies = createResource(resources, guardrailPolicy, {
    max: settings.maxPolicies,
    read: async ({ name, description, rules, is_default }) => ({
      name,
      description,
      rules: await validateContent({ name, description, rules }),
      is_default,
    }),
    changed: (tx, { row }) => tx.afterCommit(() => lookup.forget(row)),
  })
  const deps: Deps = { resources, bindings, policies, lookup, runner: createRuleRunner(opinion) }
  return {
    policies,
    catalogue,
    evaluate: (call: Call<Caller>, id: string, input: Evaluation) => evaluatePolicy(deps, call, id, input),
    preview: async (call: Call, input: Trial) => {
      const owner = ownerOf(call.caller)
      const rules = await validateRules(input.rules)
      return evaluateRules(deps, { id: `trial:${owner}` as GuardrailPolicyId, owner, rules }, input, call.signal)
    },
    bind: (call: Call, keyId: string, input: GuardrailBinding) => bindPolicy(deps, call, keyId, input),
    screen: (of: UnderPolicy, prompt: string, signal: AbortSignal) => screenPrompt(deps, of, prompt, signal),

    moderate: (call: Call, order: ModerationOrder) =>
      moderate({ resources, policyOf: (caller) => lookup.policyOf(caller) }, call, order),

    /** The guard of one run. Null for a caller without a policy. Synchronous when the policy is cached. */
    guardOf(caller: TenantCaller): Guard | null | Promise<Guard | null> {
      const policy = lookup.policyOf(caller)
      return policy instanceof Promise ? policy.then((ready) => guardBy(ready, caller)) : guardBy(policy, caller)
    },
  }

  function guardBy(policy: CompiledPolicy | null, caller: TenantCaller): Guard | null {
    return policy && createGuard(policy, deps.runner, ownerOf(caller))
  }
}

/** `GET /guardrails`. */
const catalogue = (): GuardrailCatalogue => ({
  guardrails: [...GUARDRAILS.values()].map(({ id, description, phases, verdicts }) => ({
    guardrail_id: id,
    description: readsRequestsOnly(id) ? `${description}. ${REQUESTS_ONLY}` : description,
    phases: [...phases],
    verdicts: [...verdicts],
    config_schema: configSchemaOf(id),
  })),
})

const REQUESTS_ONLY =
  'In the input phase it checks the prompt and the other user messages, but not system messages, earlier answers and memories.'

/**
 * `POST /guardrail-policies/{id}/evaluate`: the findings of every rule of the phase. Nothing is billed, stored or sent
 * to an engine (docs/api.md 12). Throws 404.
 */
async function evaluatePolicy(deps: Deps, call: Call<Caller>, id: string, input: Evaluation): Promise<Evaluated> {
  const { resources, policies } = deps
  const row = await policies.find(resources.store.read, call.caller, id)
  // Compiled policies are cached by their rules, so trial rules never replace the saved ones.
  const tried = input.rules ? { ...row, rules: await validateRules(input.rules) } : row
  return evaluateRules(deps, tried, input, call.signal)
}

async function evaluateRules(
  { runner }: Deps,
  row: Parameters<typeof compilePolicy>[0],
  input: Evaluation,
  signal: AbortSignal,
): Promise<Evaluated> {
  const { phase, text, tool_name } = input
  const { rules, key } = (await compilePolicy(row)).of(phase)
  const about = { phase, ...(tool_name === undefined ? {} : { tool: { name: tool_name } }) }
  const parsedText = readAs(phase, text)
  const inspection = { set: { rules, key }, about, who: row.owner, signal }
  const { value, findings } = await runner.everyRule(inspection, parsedText)
  return {
    results: rules.map(({ guardrail_id, verdict }, index) => {
      const found = findings[index]?.detail ?? null
      const detail = found ?? notSeen(guardrail_id, input)
      return { guardrail_id, verdict, triggered: found !== null, detail }
    }),
    text: value === parsedText ? text : typeof value === 'string' ? value : JSON.stringify(value),
  }
}

/** Parses the arguments of a tool if they are JSON, and its results if they are an object or an array. */
function readAs(phase: Phase, text: string): unknown {
  if (phase !== 'tool_call' && phase !== 'tool_result') return text
  const value = parsedJson(text)
  return typeof value === 'object' || phase === 'tool_call' ? (value ?? text) : text
}

/** What a rule that did not fire could not check, because only a run has it. Null when it checked everything. */
function notSeen(id: GuardrailId, { phase, tool_name }: Evaluation): string | null {
  if (id === 'system_prompt_leak') return 'not checked: only a run has a system prompt'
  if (id === 'groundedness') return 'not checked: only a run has sources'
  if (phase !== 'tool_call' || tool_name !== undefined) return null
  if (id === 'tool_allowlist') return 'not checked: "tool_name" was not sent'
  return 'only the arguments were checked: "tool_name" was not sent'
}

/**
 * `PUT /keys/{id}/guardrails`: applies to the next request. Throws 404 when the key or the policy does not belong to
 * the caller, 400 `validation_error` when the two belong to different owners.
 */
function bindPolicy(
  { resources: { store }, bindings, policies }: Deps,
  call: Call,
  keyId: string,
  { guardrail_policy_id: id }: GuardrailBinding,
): Promise<ApiKey> {
  return store.write((tx) =>
    bindings.set(tx, call, keyId, async (key) => {
      if (id === null) return { guardrail_policy_id: null }
      const policy = await policies.findLocked(tx, call.caller, id)
      if (policy.owner !== ownerOf(key)) throw foreignToKey(policy.org_id ? TEAMS : PERSONAL)
      return { guardrail_policy_id: policy.id }
    }),
  )
}

const TEAMS =
  '"guardrail_policy_id" is a team policy, but the key does not belong to its organization. Bind a personal policy, or use a key of the organization.'
const PERSONAL =
  '"guardrail_policy_id" is a personal policy, but the key belongs to an organization. Create the policy with "scope":"team".'

/** A prompt after the input rules. */
export type Screened = {
  /** The prompt after redaction. */
  text: string
  /** The error that a call with this prompt would get. Null when the prompt is admitted. */
  refusal: Error | null
}

/** Applies an owner's input rules to a prompt, for trying it out. Records nothing and asks no engine about doubts. */
async function screenPrompt(
  { lookup, runner }: Deps,
  ownerFilter: UnderPolicy,
  prompt: string,
  signal: AbortSignal,
): Promise<Screened> {
  const set = (await lookup.policyOf(ownerFilter))?.of('input')
  if (!set?.rules.length) return { text: prompt, refusal: null }
  const inspection = { set, about: { phase: 'input' as const }, who: ownerOf(ownerFilter), signal }
  const { text, blocked } = (await runner.texts(inspection, [prompt]))[0]!
  if (!blocked) return { text, refusal: null }
  return { text: prompt, refusal: guardrailBlocked(blocked.guardrailId, blocked.message, 'prompt', blocked.detail) }
}

const { rows } = guardrailPolicy

/** The subject of a policy lookup: the policy bound to the key applies, else the default of the owner. */
type UnderPolicy = Pick<TenantCaller, 'orgId' | 'userId'> & { guardrailPolicyId?: string | null }
const REMEMBERED = 20_000

/**
 * The policy that applies, or that none applies. Most callers have no policy, so that is cached too. The compiled
 * policy is heavy, so a cache bounded by memory holds it.
 */
type Known = { id: GuardrailPolicyId; fingerprint: string } | { id: null }

/**
 * Finds the policy of a request (docs/api.md 12): the one bound to its key, else the default of its team or person,
 * else none. Cached, so that callers without a policy pay nothing.
 */
function createPolicyLookup({ store }: ResourceDeps) {
  const options = { max: REMEMBERED, changes: store.changes, tables: ['guardrail_policies'] } as const
  const bound = createReadCache<string, Known>(options)
  const defaults = createReadCache<OwnerScope, Known>(options)

  return {
    /** Synchronous when the policy is cached. */
    policyOf(caller: UnderPolicy): CompiledPolicy | null | Promise<CompiledPolicy | null> {
      const id = caller.guardrailPolicyId ?? null
      if (id === null) return defaultOf(caller)
      const found = cachedPolicy(bound, id, () => rows.find(store.read, 'everyone', id))
      // On other nodes a key may stay bound to a deleted policy for a moment. Then the default applies.
      return found instanceof Promise
        ? found.then((policy) => policy ?? defaultOf(caller))
        : (found ?? defaultOf(caller))
    },

    /** Call this after the commit that changed or deleted the policy. */
    forget({ id, owner }: Pick<PolicyRow, 'id' | 'owner'>): void {
      bound.forget(id)
      defaults.forget(owner)
      dropCompiledPolicy(id)
    },
  }

  function defaultOf(caller: UnderPolicy): CompiledPolicy | null | Promise<CompiledPolicy | null> {
    const owner = ownerOf(caller)
    // Most owners have none.
    return defaults.known(owner)?.id === null
      ? null
      : cachedPolicy(defaults, owner, () => rows.defaultOf(store.read, owner))
  }
}

type Read = () => Promise<PolicyRow | undefined>

function cachedPolicy<K extends string>(
  cache: ReadCache<K, Known>,
  key: K,
  read: Read,
): CompiledPolicy | null | Promise<CompiledPolicy | null> {
  const known = cache.get(key, async () => {
    const row = await read()
    return row ? { id: row.id, fingerprint: (await compilePolicy(row)).fingerprint } : { id: null }
  })
  return known instanceof Promise ? known.then((found) => inMemory(found!, read)) : inMemory(known, read)
}

function inMemory(known: Known, read: Read): CompiledPolicy | null | Promise<CompiledPolicy | null> {
  if (known.id === null) return null
  // A policy that was evicted from the cache is compiled again.
  return compiledPolicy(known.id, known.fingerprint) ?? read().then((row) => (row ? compilePolicy(row) : null))
}
