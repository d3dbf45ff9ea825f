import type { NewRule } from '../../src/routing/schema'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import { readValueFile } from '../preference-file'
import { resolveKey } from '../resolve'
import { orNone, text } from '../words'
import { keyArgument } from './keys-columns'

const ID = '2f0f6c4e-8a35-4c1b-9d52-0a4f1f1f7c11'
const bound = [
  column('id', 'ID'),
  column('name', 'NAME'),
  column('routing_preference_id', 'ROUTING'),
  column('routing_rules', 'RULES', { kind: 'list' }),
  column('guardrail_policy_id', 'GUARDRAILS'),
]

export const bindKey = defineCommand({
  path: 'keys bind',
  summary: 'Bind a routing preference, rules or guardrails to a key',
  about:
    'Uses the owner of the key in use, and takes effect at once. Settings that you do not name stay the same; none removes one.',
  examples: [`keys bind ${ID} --routing none`, 'keys bind ci --rules rules.json --guardrails none --json'],
  apis: ['tenant'],
  impact: 'write',
  exits: [3],
  columns: bound,
  args: keyArgument,
  flags: {
    routing: orNone(text('PREF', 'id of a routing preference')),
    rules: orNone(text('FILE', 'a list of routing rules as JSON, JSONC or YAML')),
    guardrails: orNone(text('POLICY', 'id of a guardrail policy')),
  },
  async run(shell, { key, routing, rules, guardrails }) {
    if (routing === undefined && rules === undefined && guardrails === undefined) {
      throw usageFailure(
        'keys bind needs --routing, --rules or --guardrails.',
        `svc-admin keys bind ${key} --routing none`,
      )
    }
    const read = typeof rules === 'string' ? ((await readValueFile(shell, rules)) as NewRule[]) : []
    const { client } = await (await shell.connect()).tenant()
    const id = await resolveKey((await apiOf(shell, { own: true })).api, key)
    if (shell.planned(`change what is bound to key ${key}`)) return
    const one = client.keys({ id: encodeURIComponent(id) })
    let latest: object = {}
    if (routing !== undefined) {
      latest = expectData(await one['routing-preference'].put({ routing_preference_id: routing }))
    }
    if (rules !== undefined) latest = expectData(await one['routing-rules'].put({ rules: read }))
    if (guardrails !== undefined) latest = expectData(await one.guardrails.put({ guardrail_policy_id: guardrails }))
    shell.print.item(latest, bound)
  },
})
