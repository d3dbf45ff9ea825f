import { defineCommand } from '../command'
import { notFoundFailure, usageFailure } from '../failure'
import { column } from '../output/columns'
import { type Resource, resourceOver } from '../resource'
import { everyOf, namedAmong } from '../rule-set'
import type { Shell } from '../shell'
import { argument, choice, optional } from '../words'

/** `policies` means both kinds. */
type ResourceName = 'policies' | 'guardrails' | 'routing'

const KINDS: Record<ResourceName, string> = {
  policies: 'guardrail policy or routing preference',
  guardrails: 'guardrail policy',
  routing: 'routing preference',
}

const columns = [
  column('id', 'ID'),
  column('object', 'KIND'),
  column('name', 'NAME'),
  column('scope', 'SCOPE'),
  column('is_default', 'DEFAULT', { kind: 'flag' }),
  column('before', 'BEFORE'),
]
const shared = { apis: ['tenant', 'operator'], impact: 'write', columns } as const

/** A policy or preference that may be the default of its scope. */
export type SessionState = {
  id: string
  object: 'guardrail_policy' | 'routing_preference'
  name: string
  scope: 'personal' | 'team'
  org_id: string | null
  is_default: boolean
}
type Defaults = Pick<Resource<SessionState, never, { is_default: boolean }>, 'list' | 'update'>

/** The set-default and unset-default commands of a noun (dx 2.10). Each scope has one default; the old one is named. */
export function defaultVerbs(resource: ResourceName, id: string) {
  const what = KINDS[resource]

  const set = defineCommand({
    ...shared,
    path: `${resource} set-default`,
    summary: `Make a ${what} the default of its scope`,
    about:
      'Every key of the scope that has none of its own uses it, from the next request. The output names the previous default.',
    examples: [`${resource} set-default ${id}`, `${resource} set-default ${id} --json`],
    exits: [3, 5],
    args: { policy: argument(`id or name of a ${what}`) },
    async run(shell, { policy }) {
      const all = await standingsOf(shell, resource)
      const found = pick(all, policy, what)
      // Operators see everyone's personal policies but not their owners, unless --org names one; then the server answers 409.
      // Whether `other` is the current default of the same kind and owner.
      const before =
        found.scope === 'team' || shell.globals.org !== undefined || (await shell.connect()).api === 'tenant'
          ? all.find(
              (other) =>
                other.is_default &&
                other.id !== found.id &&
                other.object === found.object &&
                other.scope === found.scope &&
                other.org_id === found.org_id,
            )
          : undefined
      if (found.is_default) {
        shell.print.item({ ...found, before: found.id }, columns)
        return shell.note(`${found.name} is already the default. Nothing was changed.`)
      }
      if (shell.planned(`make ${found.name} the default${before ? `instead of ${before.name}` : ''}`)) return
      const made = await makeDefault(await resourceOf(shell, found), found, before)
      shell.print.item({ ...made, before: before?.id ?? null }, columns)
      if (before)
        shell.note(`Previous default: ${before.name}. Restore it: svc-admin ${resource} set-default ${before.id}`)
    },
  })

  const unset = defineCommand({
    ...shared,
    path: `${resource} unset-default`,
    summary: `Stop using a ${what} as the default`,
    about: 'From the next request, keys without one of their own use none. Without an id it clears the only default.',
    examples: [`${resource} unset-default`, `${resource} unset-default ${id} --json`],
    exits: [3],
    args: { policy: optional(`id or name of a ${what}; optional when there is only one default`) },
    flags: { only: choice(['personal', 'team'], 'only the default of this scope') },
    async run(shell, { policy, only }) {
      const all = (await standingsOf(shell, resource)).filter(({ scope }) => only === undefined || scope === only)
      const found = policy === undefined ? theDefault(all) : pick(all, policy, what)
      if (found === null) return shell.note('There is no default. Nothing was changed.')
      if (!found.is_default) {
        shell.print.item({ ...found, before: null }, columns)
        return shell.note(`${found.name} is not a default. Nothing was changed.`)
      }
      if (shell.planned(`stop using ${found.name} as the default`)) return
      const made = await (await resourceOf(shell, found)).update(found.id, { is_default: false })
      shell.print.item({ ...made, before: found.id }, columns)
      shell.note(`Restore it: svc-admin ${resource} set-default ${found.id}`)
    },
  })

  return [set, unset]
}

/** Unsets the old default and sets the new one; restores the old one when setting fails. */
async function makeDefault(
  resource: Defaults,
  found: SessionState,
  before: SessionState | undefined,
): Promise<SessionState> {
  if (before) await resource.update(before.id, { is_default: false })
  try {
    return await resource.update(found.id, { is_default: true })
  } catch (error) {
    if (before) await resource.update(before.id, { is_default: true })
    throw error
  }
}

const resourceOf = async (shell: Shell, { object }: SessionState): Promise<Defaults> =>
  (object === 'guardrail_policy'
    ? await resourceOver(shell, 'guardrail-policies')
    : await resourceOver(shell, 'routing-preferences')) as Defaults

async function standingsOf(shell: Shell, resource: ResourceName): Promise<SessionState[]> {
  const policies = resource === 'routing' ? [] : await everyOf(await resourceOver(shell, 'guardrail-policies'))
  const preferences = resource === 'guardrails' ? [] : await everyOf(await resourceOver(shell, 'routing-preferences'))
  return [...policies, ...preferences]
}

function pick(all: readonly SessionState[], word: string, what: string): SessionState {
  const found = namedAmong(all, word)
  if (found) return found
  throw notFoundFailure(`No ${what} has the id or name "${word}".`, 'the list command shows ids and names')
}

function theDefault(all: readonly SessionState[]): SessionState | null {
  const defaults = all.filter((one) => one.is_default)
  if (defaults.length <= 1) return defaults[0] ?? null
  const shown = defaults.map(({ id, object, scope, name }) => `${id}  ${object} ${scope} ${name}`)
  throw usageFailure(`There are ${defaults.length} defaults:\n${shown.join('\n')}`, 'add the id of one of them')
}
