import { randomBase62 } from '../../src/kernel/crypto'
import type { ApiKey } from '../../src/keys/schema'
import { defineCommand } from '../command'
import type { Column } from '../output/columns'
import { column } from '../output/columns'
import { type PageOrder, printPages } from '../pages'
import { changedBy } from '../policy-plan'
import { readValueFile } from '../preference-file'
import { type Path, type ResourceAt, resourceOver } from '../resource'
import { boundTo, keysHolding, noteWarnings, resolveRuleSet } from '../rule-set'
import { argument } from '../words'
import { ABOUT_FILES, ruleSetCommand, ruleSetFile, ruleSetListFlags } from './rule-sets'

/** A resource, with the words that its commands use. */
export type Kind<P extends Path> = {
  path: P
  /** `guardrails` */
  noun: string
  /** Singular and plural: `guardrail policy`. */
  what: string
  many: string
  columns: readonly Column[]
  /** For examples in help. */
  id: string
  file: string
  /** The flag of `keys bind` for this kind. */
  flag: string
  holds(key: ApiKey, id: string): boolean
}

const deleted = [column('id', 'ID'), column('deleted', 'DELETED', { kind: 'flag' })]

/** The list, get, create, update and delete commands of a resource (dx 2.10). */
export function resourceCommands<P extends Path>(kind: Kind<P>) {
  const { path, noun, what, many, columns, id, file, flag, holds } = kind
  const args = { policy: argument(`id or name of the ${what}`) }
  const flags = ruleSetFile(what)
  const shared = { ...ruleSetCommand, columns }

  const list = defineCommand({
    ...shared,
    path: `${noun} list`,
    summary: `List ${many}, newest first`,
    about:
      "On the server's machine it lists everyone's, or with --org those of one organization or user. Over --url it lists your own and those of your organization; with an organization's key, only those of the organization.",
    examples: [`${noun} list`, `${noun} list --org acme`, `${noun} list --only team --json`],
    impact: 'read',
    exits: [3, 4, 7],
    watchable: true,
    flags: ruleSetListFlags,
    async run(shell, { only, ...paging }) {
      const sets = await resourceOver(shell, path)
      const page = (order: PageOrder) => sets.list({ ...order, ...(only ? { scope: only } : {}) })
      const empty = `No ${many}. Create one: svc-admin ${noun} create -f ${file}`
      await printPages(shell, paging, { page, columns, empty })
    },
  })

  const get = defineCommand({
    ...shared,
    path: `${noun} get`,
    summary: `Show one ${what} with all that is in it`,
    about: 'With --json it prints what create and update take.',
    examples: [`${noun} get ${id}`, `${noun} get ${id} --json`],
    impact: 'read',
    exits: [3, 4, 7],
    args,
    async run(shell, { policy }) {
      const sets = await resourceOver(shell, path)
      shell.print.item(await sets.get(await resolveRuleSet(sets, policy, what)), columns)
    },
  })

  const create = defineCommand({
    ...shared,
    path: `${noun} create`,
    summary: `Create a ${what} from a file`,
    about: `It is bound to no key yet; the output says how to bind it. On the server's machine --org says whose it is; by default it belongs to the account that the first run made. ${ABOUT_FILES}`,
    examples: [`${noun} create -f ${file}`, `${noun} create -f - --org acme --json`],
    impact: 'write',
    exits: [3, 4, 5, 7, 10],
    flags,
    async run(shell, { file: from = '-' }) {
      const order = (await readValueFile(shell, from)) as Parameters<ResourceAt<P>['create']>[0]
      if (shell.planned(`create a ${what} from ${from}`)) return
      const key = shell.globals.idempotencyKey ?? randomBase62(24)
      const made = await (await resourceOver(shell, path)).create(order, key)
      shell.print.item(made, columns)
      noteWarnings(shell, made)
      shell.note(`Bound to no key. Bind it: svc-admin keys bind KEY ${flag} ${made.id}`)
    },
  })

  const update = defineCommand({
    ...shared,
    path: `${noun} update`,
    summary: `Change a ${what} to what a file says`,
    about: `Takes effect with the next request. What the file leaves out stays; a list replaces the whole list. With --dry-run it names the fields that would change. ${ABOUT_FILES}`,
    examples: [`${noun} update ${id} -f ${file}`, `${noun} update ${id} -f - --json`],
    impact: 'write',
    exits: [3, 4, 5, 7, 10],
    args,
    flags,
    async run(shell, { policy, file: from = '-' }) {
      const patch = (await readValueFile(shell, from)) as Parameters<ResourceAt<P>['update']>[1]
      const sets = await resourceOver(shell, path)
      const found = await resolveRuleSet(sets, policy, what)
      if (shell.globals.dryRun) {
        const fields = changedBy(patch as object, await sets.get(found))
        if (!fields.length) return shell.note(`${from} changes nothing of ${what} ${policy}.`)
        shell.planned(`change ${fields.join(', ')} of ${what} ${policy} to ${from}`)
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
    path: `${noun} delete`,
    summary: `Delete a ${what} and unbind its keys`,
    about: 'Cannot be undone. It first names the keys that it is bound to, which have none from then on.',
    examples: [`${noun} delete ${id} --yes`, `${noun} delete ${id} --yes --json`],
    impact: 'write',
    exits: [3, 4, 7, 10],
    columns: deleted,
    args,
    async run(shell, { policy }) {
      const sets = await resourceOver(shell, path)
      const {
        id: found,
        name,
        bound_key_count: count,
        is_default,
      } = await sets.get(await resolveRuleSet(sets, policy, what))
      const names = count ? await keysHolding(await shell.connect(), (key) => holds(key, found)) : []
      const sentence = `delete ${what} ${name}${is_default ? ', the default of its scope' : ''}, ${boundTo(count, names)}`
      if (shell.planned(sentence)) return
      shell.confirm(`${sentence[0]!.toUpperCase()}${sentence.slice(1)}?`)
      await sets.remove(found)
      shell.print.item({ id: found, deleted: true }, deleted)
    },
  })

  return [list, get, create, update, remove]
}
