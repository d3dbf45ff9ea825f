import { defineCommand } from '../command'
import { expectData } from '../failure'
import { column } from '../output/columns'
import type { Shell } from '../shell'
import { argument } from '../words'
import { POLICY_ID } from './guardrails-columns'

const shared = { planes: ['tenant'], offline: true, impact: 'write', danger: 'none' } as const
const args = { id: argument('id of a guardrail policy or a routing preference') }

const columns = [
  column('id', 'ID'),
  column('object', 'KIND'),
  column('name', 'NAME'),
  column('scope', 'SCOPE'),
  column('is_default', 'DEFAULT', { kind: 'flag' }),
  column('before', 'BEFORE'),
]

export const setDefault = defineCommand({
  ...shared,
  path: 'policies set-default',
  summary: 'Make a policy or a preference the default of its scope',
  about: 'For every key of the scope that has none bound, from the next request on. Says which one was it before.',
  examples: [`policies set-default ${POLICY_ID}`, `policies set-default ${POLICY_ID} --json`],
  exits: [3, 4, 5, 7, 10],
  columns,
  args,
  async run(shell, { id }) {
    const kind = await kindOf(shell, id)
    const found = await kind.get(id)
    const before = (await kind.list(found.scope)).find((other) => other.is_default && other.id !== id)
    if (shell.planned(`make ${found.name} the default${before ? ` in place of ${before.name}` : ''}`)) return
    if (before) await kind.mark(before.id, false)
    const made = await kind.mark(id, true)
    shell.print.item({ ...made, before: before?.id ?? null }, columns)
  },
})

export const unsetDefault = defineCommand({
  ...shared,
  path: 'policies unset-default',
  summary: 'Let a scope have no default of this kind any more',
  about: 'Keys that have none bound are under none, from the next request on.',
  examples: [`policies unset-default ${POLICY_ID}`, `policies unset-default ${POLICY_ID} --json`],
  exits: [3, 4, 7, 10],
  columns,
  args,
  async run(shell, { id }) {
    const kind = await kindOf(shell, id)
    const found = await kind.get(id)
    if (shell.planned(`let ${found.name} be no default any more`)) return
    const made = await kind.mark(id, false)
    shell.print.item({ ...made, before: found.is_default ? id : null }, columns)
  },
})

type Standing = { id: string; object: string; name: string; scope: 'personal' | 'team'; is_default: boolean }
type Kind = {
  get(id: string): Promise<Standing>
  list(scope: Standing['scope']): Promise<Standing[]>
  mark(id: string, is_default: boolean): Promise<Standing>
}

/** Guardrail policies, or, where none of them has this id, routing preferences. */
async function kindOf(shell: Shell, id: string): Promise<Kind> {
  const { client } = await (await shell.connect()).tenant()
  const [policies, preferences] = [client['guardrail-policies'], client['routing-preferences']]
  const isPolicy = (await policies({ id: encodeURIComponent(id) }).get()).status !== 404
  return isPolicy
    ? {
        get: async (one) => expectData(await policies({ id: encodeURIComponent(one) }).get()),
        list: async (scope) => expectData(await policies.get({ query: { limit: 100, scope } })).guardrail_policies,
        mark: async (one, is_default) => expectData(await policies({ id: one }).patch({ is_default })),
      }
    : {
        get: async (one) => expectData(await preferences({ id: encodeURIComponent(one) }).get()),
        list: async (scope) => expectData(await preferences.get({ query: { limit: 100, scope } })).routing_preferences,
        mark: async (one, is_default) => expectData(await preferences({ id: one }).patch({ is_default })),
      }
}

export const policyCommands = [setDefault, unsetDefault]
