import type {
  Evaluated,
  Evaluation,
  GuardrailCatalogue,
  GuardrailPolicy,
  NewPolicy,
  PolicyPatch,
} from '../src/guardrails/schema'
import type {
  Correction,
  NewPreference,
  Preference,
  PreferencePatch,
  Preview,
  PreviewOrder,
  Suggestion,
} from '../src/routing-preferences/schema'
import { expectData, usageFailure } from './failure'
import type { Shell } from './shell'

export type Page<Item> = { items: Item[]; next: string | null }
export type Listing = { limit: number; scope?: 'personal' | 'team'; cursor?: string }

/** Named rule sets over either API: operators manage every owner's, tenants their own (dx 2.10). */
export type RuleSets<Item, New, Patch> = {
  list(query: Listing): Promise<Page<Item>>
  get(id: string): Promise<Item>
  create(order: New, idempotencyKey: string): Promise<Item>
  update(id: string, patch: Patch): Promise<Item>
  remove(id: string): Promise<{ deleted: true }>
}

export type GuardrailPlane = RuleSets<GuardrailPolicy, NewPolicy, PolicyPatch> & {
  builtins(): Promise<GuardrailCatalogue['guardrails']>
  evaluate(id: string, order: Evaluation): Promise<Evaluated>
}

type CorrectionQuery = Omit<Listing, 'scope'> & { expected_mode?: string }
export type RoutingPlane = RuleSets<Preference, NewPreference, PreferencePatch> & {
  preview(order: PreviewOrder): Promise<Preview>
  suggest(mode: string): Promise<Suggestion>
  corrections(query: CorrectionQuery): Promise<Page<Correction>>
}

/** The owner from `--org`, for requests that take one. */
const ownerIn = ({ globals }: Shell) => (globals.org === undefined ? {} : { owner: globals.org })

export async function guardrailsOver(shell: Shell): Promise<GuardrailPlane> {
  const connection = await shell.connect()
  return connection.plane === 'tenant' ? ownPolicies(shell) : anyPolicies(shell)
}

export async function routingOver(shell: Shell): Promise<RoutingPlane> {
  const connection = await shell.connect()
  return connection.plane === 'tenant' ? ownPreferences(shell) : anyPreferences(shell)
}

async function anyPolicies(shell: Shell): Promise<GuardrailPlane> {
  const connection = await shell.connect()
  const all = () => connection.ops()['guardrail-policies']
  const one = (id: string) => all()({ id: encodeURIComponent(id) })
  const whose = ownerIn(shell)
  return {
    async list(query) {
      const found = expectData(await all().get({ query: { ...query, ...whose } }))
      return { items: found.guardrail_policies, next: found.next_cursor }
    },
    get: async (id) => expectData(await one(id).get()),
    create: async (order) => expectData(await all().post(order, { query: whose })),
    update: async (id, patch) => expectData(await one(id).patch(patch)),
    remove: async (id) => expectData(await one(id).delete()),
    builtins: async () => expectData(await connection.ops().guardrails.get()).guardrails,
    evaluate: async (id, order) => expectData(await one(id).evaluate.post(order)),
  }
}

/** The policies of the key in use, also on the server's machine when a command asks for it. */
export async function ownPolicies(shell: Shell): Promise<GuardrailPlane> {
  const { client } = await (await shell.connect()).tenant()
  const all = client['guardrail-policies']
  const one = (id: string) => all({ id: encodeURIComponent(id) })
  return {
    async list(query) {
      const found = expectData(await all.get({ query }))
      return { items: found.guardrail_policies, next: found.next_cursor }
    },
    get: async (id) => expectData(await one(id).get()),
    create: async (order, key) => expectData(await all.post(order, { headers: { 'idempotency-key': key } })),
    update: async (id, patch) => expectData(await one(id).patch(patch)),
    remove: async (id) => expectData(await one(id).delete()),
    builtins: async () => expectData(await client.guardrails.get()).guardrails,
    evaluate: async (id, order) => expectData(await one(id).evaluate.post(order)),
  }
}

async function anyPreferences(shell: Shell): Promise<RoutingPlane> {
  const connection = await shell.connect()
  const all = () => connection.ops()['routing-preferences']
  const one = (id: string) => all()({ id: encodeURIComponent(id) })
  const whose = ownerIn(shell)
  return {
    async list(query) {
      const found = expectData(await all().get({ query: { ...query, ...whose } }))
      return { items: found.routing_preferences, next: found.next_cursor }
    },
    get: async (id) => expectData(await one(id).get()),
    create: async (order) => expectData(await all().post(order, { query: whose })),
    update: async (id, patch) => expectData(await one(id).patch(patch)),
    remove: async (id) => expectData(await one(id).delete()),
    preview: async (order) => {
      if (order.engine)
        throw usageFailure('--engine asks an engine, which is for whoever has a key: add --url and --key-file.')
      return expectData(await all().preview.post(order, { query: whose }))
    },
    suggest: async (mode) => expectData(await all()['suggest-rule'].post({ expected_mode: mode }, { query: whose })),
    async corrections(query) {
      const found = expectData(await connection.ops()['routing-corrections'].get({ query: { ...query, ...whose } }))
      return { items: found.routing_corrections, next: found.next_cursor }
    },
  }
}

/** The preferences of the key in use. */
export async function ownPreferences(shell: Shell): Promise<RoutingPlane> {
  const { client } = await (await shell.connect()).tenant()
  const all = client['routing-preferences']
  const one = (id: string) => all({ id: encodeURIComponent(id) })
  return {
    async list(query) {
      const found = expectData(await all.get({ query }))
      return { items: found.routing_preferences, next: found.next_cursor }
    },
    get: async (id) => expectData(await one(id).get()),
    create: async (order, key) => expectData(await all.post(order, { headers: { 'idempotency-key': key } })),
    update: async (id, patch) => expectData(await one(id).patch(patch)),
    remove: async (id) => expectData(await one(id).delete()),
    preview: async (order) => expectData(await all.preview.post(order)),
    suggest: async (mode) => expectData(await all['suggest-rule'].post({ expected_mode: mode })),
    async corrections(query) {
      const found = expectData(await client['routing-corrections'].get({ query }))
      return { items: found.routing_corrections, next: found.next_cursor }
    },
  }
}
