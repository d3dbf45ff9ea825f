import type { ApiKey } from '../../src/accounts/keys/schema'
import { randomBase62 } from '../../src/kernel/crypto'
import { defineCommand, type Input } from '../command'
import { type Column, column } from '../output/columns'
import { type PageQuery, pageFlags, printPages } from '../pages'
import { changedBy } from '../policy-plan'
import { readValueFile } from '../preference-file'
import { type Path, type Resource, resourceOver } from '../resource'
import { boundTo, keysHolding, noteWarnings, resolveRuleSet } from '../rule-set'
import type { Shell } from '../shell'
import { argument } from '../words'
import { ABOUT_FILES, ruleSetCommand, ruleSetFile, ruleSetListFlags } from './rule-sets'

/** A resource, with the words that its commands use. */
export type Kind = {
  path: Path
  /** `guardrails` */
  resource: string
  /** Singular and plural: `guardrail policy`. */
  what: string
  many: string
  columns: readonly Column[]
  /** For examples in help. */
  id: string
  file: string
  /** What deleting one leaves, as a sentence. */
  stays: string
  /** Its argument, in help: `policy`. */
  arg: string
  /** For what keys may be bound to, and has a scope: the flag of `keys bind`, and whether a key holds one. */
  bound?: { flag: string; holds(key: ApiKey, id: string): boolean }
}
/** What the commands read of each. */
type Known = { id: string; name: string; bound_key_count?: number; is_default?: boolean }

export const KEYS_STAY = 'First lists the keys that use it. Afterwards they have none.'

const deleted = [column('id', 'ID'), column('deleted', 'DELETED', { kind: 'flag' })]

/** The list, get, create, update and delete commands of a resource (dx 2.10). */
export function resourceCommands(kind: Kind) {
  const { path, resource, what, many, columns, id, file, arg, stays, bound } = kind
  const args = { [arg]: argument(`id or name of the ${what}`) }
  const wordIn = (input: object) => (input as Record<string, string>)[arg]!
  const flags = ruleSetFile(what)
  const shared = { ...ruleSetCommand, columns }
  const over = (shell: Shell) => resourceOver(shell, path) as unknown as Promise<Resource<Known, object, object>>

  const list = defineCommand({
    ...shared,
    path: `${resource} list`,
    summary: `List ${many}, newest first`,
    about: `On the server's machine it lists all of them, or with --org those of one organization or user. Over --url it lists ${bound ? "your own and those of your organization; with an organization's key, only those of the organization" : 'those of the owner of the key in use'}.`,
    examples: [
      `${resource} list`,
      `${resource} list --org acme`,
      `${resource} list ${bound ? '--only team' : '--all'} --json`,
    ],
    impact: 'read',
    exits: [3],
    watchable: true,
    flags: bound ? ruleSetListFlags : pageFlags,
    async run(shell, input) {
      const { only, ...paging } = input as Input<Record<never, never>, typeof ruleSetListFlags>
      const sets = await over(shell)
      const page = (input: PageQuery) => sets.list({ ...input, ...(only ? { scope: only } : {}) })
      const empty = `No ${many}. Create one: svc-admin ${resource} create -f ${file}`
      await printPages(shell, paging, { page, columns, empty })
    },
  })

  const get = defineCommand({
    ...shared,
    path: `${resource} get`,
    summary: `Show one ${what} in full`,
    about: bound ? 'With --json it prints what create and update take.' : 'With --json it prints everything about it.',
    examples: [`${resource} get ${id}`, `${resource} get ${id} --json`],
    impact: 'read',
    exits: [3],
    args,
    async run(shell, input) {
      const sets = await over(shell)
      shell.print.item(await sets.get(await resolveRuleSet(sets, wordIn(input), what)), columns)
    },
  })

  const create = defineCommand({
    ...shared,
    path: `${resource} create`,
    summary: `Create a ${what} from a file`,
    about: `${bound ? 'No key uses it yet; the output shows how to bind it. ' : ''}On the server's machine --org sets the owner; the default is the account that the first start created. ${ABOUT_FILES}`,
    examples: [`${resource} create -f ${file}`, `${resource} create -f - --org acme --json`],
    impact: 'write',
    exits: [3, 5],
    flags,
    async run(shell, { file: from = '-' }) {
      const input = (await readValueFile(shell, from)) as object
      if (shell.planned(`create a ${what} from ${from}`)) return
      const key = shell.globals.idempotencyKey ?? randomBase62(24)
      const made = await (await over(shell)).create(input, key)
      shell.print.item(made, columns)
      noteWarnings(shell, made)
      if (bound) shell.note(`No key uses it yet. Bind it: svc-admin keys bind KEY ${bound.flag} ${made.id}`)
    },
  })

  const update = defineCommand({
    ...shared,
    path: `${resource} update`,
    summary: `Update a ${what} from a file`,
    about: `${bound ? 'Takes effect with the next request. ' : ''}Members that the file leaves out stay the same; a list replaces the whole list. With --dry-run it names the fields that would change. ${ABOUT_FILES}`,
    examples: [`${resource} update ${id} -f ${file}`, `${resource} update ${id} -f - --json`],
    impact: 'write',
    exits: [3, 5],
    args,
    flags,
    async run(shell, input) {
      const { file: from = '-' } = input as Input<Record<never, never>, typeof flags>
      const patch = (await readValueFile(shell, from)) as object
      const sets = await over(shell)
      const found = await resolveRuleSet(sets, wordIn(input), what)
      if (shell.globals.dryRun) {
        const stored = await sets.get(found)
        const fields = bound ? changedBy(patch, stored) : Object.keys(patch)
        if (!fields.length) return shell.note(`${from} does not change ${what} ${wordIn(input)}.`)
        shell.planned(`change ${fields.join(', ')} of ${what} ${wordIn(input)} to ${from}`)
        return
      }
      const made = await sets.update(found, patch)
      shell.print.item(made, columns)
      noteWarnings(shell, made)
    },
  })

  const remove = defineCommand({
    ...ruleSetCommand,
    danger: 'moderate',
    path: `${resource} delete`,
    summary: `Delete a ${what}${bound ? ' and unbind its keys' : ''}`,
    about: `This cannot be undone. ${stays}`,
    examples: [`${resource} delete ${id} --yes`, `${resource} delete ${id} --yes --json`],
    impact: 'write',
    exits: [3],
    columns: deleted,
    args,
    async run(shell, input) {
      const sets = await over(shell)
      const known = await sets.get(await resolveRuleSet(sets, wordIn(input), what))
      const { id: found, name, bound_key_count: count = 0, is_default } = known
      const names = bound && count ? await keysHolding(shell, (key) => bound.holds(key, found)) : []
      const boundKeys = bound ? `, ${boundTo(count, names)}` : ''
      const sentence = `delete ${what} ${name}${is_default ? ', the default of its scope' : ''}${boundKeys}`
      if (shell.planned(sentence)) return
      shell.confirm(`${sentence[0]!.toUpperCase()}${sentence.slice(1)}?`)
      await sets.remove(found)
      shell.print.item({ id: found, deleted: true }, deleted)
    },
  })

  return [list, get, create, update, remove]
}
