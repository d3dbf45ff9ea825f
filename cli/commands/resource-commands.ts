import type { ApiKey } from '../../src/accounts/keys/schema'
import { type Command, column, columnsOf, commandsOf } from '../command'
import { usageFailure } from '../failure'
import { readValueFile } from '../files'
import type { Column } from '../output/columns'
import { changedBy, type Stored as PolicyContent } from '../policy-files'
import {
  boundTo,
  everyOf,
  itemArgument,
  keysHolding,
  noteWarnings,
  type Path,
  pickNamed,
  type Resource,
  resolveRuleSet,
  resourceOver,
} from '../resource'
import type { Shell } from '../shell'
import { type Arg, argument, choice, type Flag, optional, text } from '../words'

/** A resource, with the words that its commands use. */
type Declared = {
  path: Path
  /** The first word of its commands: `guardrails`. */
  resource: string
  /** Singular and plural: `guardrail policy`. The plural defaults to `resource`. */
  what: string
  many?: string
  columns: readonly Column[]
  /** Id for the examples in help. */
  id: string
  /** Sentence about what stays after deletion. */
  stays?: string
}
/** A resource that is created and updated from a file, and found by id or name. */
type Filed = Declared & {
  file: string
  /** Name of its argument in help: `policy`. */
  arg: string
  /** For resources that keys may be bound to and that have a scope: the flag of `keys bind`, and if a key uses it. */
  bound?: { flag: string; holds(key: ApiKey, id: string): boolean }
}
/** A resource that is created and updated by its own flags, and can be disabled. */
type Switched = Declared & {
  /** How to create the first one: the rest of a command line. */
  first: string
  /** A sentence for the help of `get`. */
  shown: string
  /** The change that enables or disables it. */
  switched(on: boolean): object
  /** Summary and a sentence for the help of `enable` and `disable`. */
  enable: readonly [summary: string, about: string]
  disable: readonly [summary: string, about: string]
  /** What is deleted along with it: ` and its conversations`. */
  along?: string
}
/** The members that the commands read of each resource. */
type Known = { id: string; name: string; bound_key_count?: number; is_default?: boolean }

export const KEYS_STAY = 'First lists the keys that use it. Afterwards they have none.'
const ABOUT_FILES = 'The file uses the format of the API, as JSON, JSONC, YAML or TOML; - reads stdin.'
const ALL = "On the server's machine it lists all of them, or with --org those of one organization or user. Over --url"
const apis = ['tenant', 'operator'] as const
const deleted = columnsOf`deleted DELETED flag`

/** The columns of a rule set. The kind's own columns follow the rules. */
export const ruleSetColumns = (...own: Column[]) => [
  ...columnsOf`id, name NAME, scope SCOPE, is_default DEFAULT flag`,
  countedColumn('rules', 'RULES'),
  ...own,
  ...columnsOf`
    bound_key_count KEYS number, description DESCRIPTION wide, org_id ORG wide, created CREATED time wide,
    updated CHANGED time`,
]

/** Shows the length of a list. Full output shows the list itself. */
export const countedColumn = (name: string, title: string) =>
  column(name, title, {
    show: ({ [name]: value }, entire) =>
      Array.isArray(value) ? (entire ? JSON.stringify(value) : String(value.length)) : '',
  })

export const ruleSetFile = (what: string) => ({
  file: { ...text('FILE', `the ${what} as JSON, JSONC, YAML or TOML; - reads stdin`), short: 'f' },
})

const over = (shell: Shell, path: Path) =>
  resourceOver(shell, path) as unknown as Promise<Resource<Known, object, object>>

/** The list and get commands of a resource. */
function reading(kind: Filed | Switched) {
  const { path, resource, what, many = resource, columns, id } = kind
  const filed = 'file' in kind ? kind : null
  const command = commandsOf(resource, { apis, columns })
  const arg = filed?.arg ?? 'id'
  const args: Record<string, Arg<string>> = {
    [arg]: filed ? argument(`id or name of the ${what}`) : itemArgument(path, what),
  }
  const wordIn = (input: object) => (input as Record<string, string>)[arg]!

  const listed = filed ? 'those of the owner of the key in use' : 'your own'
  const narrowed = filed?.bound ? '--only team' : '--all'
  const only: Record<string, Flag> = filed?.bound
    ? { only: choice(['personal', 'team'], 'only those of this scope') }
    : {}
  const list = command`list (pages items): List ${many}, newest first
  ${ALL} it lists ${filed?.bound ? "your own and those of your organization; with an organization's key, only those of the organization" : listed}.
  $ ${resource} list
  $ ${resource} list --org acme${filed ? `\n$ ${resource} list ${narrowed}` : ''} --json`({
    flags: only,
    async answer({ shell, page }, { only }) {
      const scoped = only ? { scope: only as 'personal' | 'team' } : {}
      return (await over(shell, path)).list({ ...page, ...scoped })
    },
    empty: `No ${many}. Create one: svc-admin ${resource} ${'first' in kind ? kind.first : `create -f ${kind.file}`}`,
  })

  const full = filed?.bound ? 'what create and update take' : 'everything about it'
  const get = command`get: Show one ${what}${filed ? ' in full' : ''}
  ${'shown' in kind ? kind.shown : `With --json it prints ${full}.`}
  $ ${resource} get ${id}`({
    args,
    async answer({ shell }, input) {
      const all = await over(shell, path)
      return all.get(filed ? await resolveRuleSet(all, wordIn(input), what) : wordIn(input))
    },
  })
  return { command, args, wordIn, list, get }
}

/** The list, get, create, update and delete commands of a resource made from a file (docs/operating.md 2.10). */
export function fileCommands(kind: Filed): Command[] {
  const { path, resource, what, id, file, bound, stays } = kind
  const { command, args, wordIn, list, get } = reading(kind)
  const flags = ruleSetFile(what)

  const create = command`create: Create a ${what} from a file
  ${bound ? 'No key uses it yet; the output shows how to bind it. ' : ''}On the server's machine --org sets the owner; the default is the account that the first start created. ${ABOUT_FILES}
  $ ${resource} create -f ${file}
  $ ${resource} create -f - --org acme --json`({
    flags,
    find: async (shell, { file = '-' }) => ({ file, content: (await readValueFile(shell, file)) as object }),
    action: ({ file }) => `create a ${what} from ${file}`,
    answer: async ({ shell, headers }, { content }) => (await over(shell, path)).create(content, headers),
    note(made, _, shell) {
      noteWarnings(shell, made)
      return bound && `No key uses it yet. Bind it: svc-admin keys bind KEY ${bound.flag} ${made.id}`
    },
  })

  const update = command`update: Update a ${what} from a file
  ${bound ? 'Takes effect with the next request. ' : ''}Members that the file leaves out stay the same; a list replaces the whole list. With --dry-run it names the fields that would change. ${ABOUT_FILES}
  $ ${resource} update ${id} -f ${file}
  $ ${resource} update ${id} -f - --json`({
    args,
    flags,
    async find(shell, { file = '-', ...input }) {
      const patch = (await readValueFile(shell, file)) as object
      const all = await over(shell, path)
      const id = await resolveRuleSet(all, wordIn(input), what)
      const stored = bound && shell.globals.dryRun ? ((await all.get(id)) as unknown as PolicyContent) : null
      const fields = stored ? await changedBy(patch, stored) : Object.keys(patch)
      return { file, patch, all, id, fields }
    },
    action: ({ fields, file, ...input }) =>
      fields.length ? `change ${fields.join(', ')} of ${what} ${wordIn(input)} to ${file}` : undefined,
    async answer({ shell }, { all, id, patch, fields, file, ...input }) {
      if (fields.length || !shell.globals.dryRun) return all.update(id, patch)
      shell.note(`${file} does not change ${what} ${wordIn(input)}.`)
      return undefined
    },
    note: (made, _, shell) => made && noteWarnings(shell, made),
  })

  const remove = command`delete (moderate, exits 3): Delete a ${what}${bound ? ' and unbind its keys' : ''}
  This cannot be undone. ${stays}
  $ ${resource} delete ${id} --yes`({
    columns: [column('id', 'ID'), ...deleted],
    args,
    async find(shell, input) {
      const all = await over(shell, path)
      const found = await all.get(await resolveRuleSet(all, wordIn(input), what))
      const { id, name, bound_key_count: count = 0, is_default } = found
      const names = bound && count ? await keysHolding(shell, (key) => bound.holds(key, id)) : []
      const boundKeys = bound ? `, ${boundTo(count, names)}` : ''
      return { all, id, title: `${name}${is_default ? ', the default of its scope' : ''}${boundKeys}` }
    },
    action: ({ title }) => `delete ${what} ${title}`,
    async answer(_, { all, id }) {
      await all.remove(id)
      return { id, deleted: true }
    },
  })

  return [list, get, create, update, remove]
}

/** The list, get, enable, disable and delete commands of a resource with flags (docs/operating.md 2.10 to 2.14). */
export function switchCommands(kind: Switched) {
  const { path, resource, what, id: sample, along = '', stays } = kind
  const { command, args, wordIn, list, get } = reading(kind)

  const switching = (verb: 'enable' | 'disable') =>
    command`${verb}: ${kind[verb][0]}
    ${kind[verb][1]}
    $ ${resource} ${verb} ${sample}`({
      args,
      action: (input) => `${verb} ${what} ${wordIn(input)}`,
      answer: async ({ shell }, input) =>
        (await over(shell, path)).update(wordIn(input), kind.switched(verb === 'enable')),
      note(_, input) {
        const undo = `${verb === 'enable' ? 'disable' : 'enable'} ${wordIn(input)}`
        return `${verb}d ${what} ${wordIn(input)} (undo: svc-admin ${resource} ${undo})`
      },
    })

  const remove = command`delete (moderate, exits 3): Delete a ${what}${along}
  This cannot be undone. ${stays ? `${stays} ` : ''}To stop it and keep it, use ${resource} disable.
  $ ${resource} delete ${sample}
  $ ${resource} delete ${sample} --yes --json`({
    columns: deleted,
    args,
    action: (input) => `delete ${what} ${wordIn(input)}${along}`,
    question: ' This cannot be undone.',
    answer: async ({ shell }, input) => (await over(shell, path)).remove(wordIn(input)),
  })

  return { list, get, enable: switching('enable'), disable: switching('disable'), remove }
}

/** `policies` means both kinds. */
type ResourceName = 'policies' | 'guardrails' | 'routing'

const KINDS: Record<ResourceName, string> = {
  policies: 'guardrail policy or routing preference',
  guardrails: 'guardrail policy',
  routing: 'routing preference',
}

const defaultColumns = columnsOf`
  id ID, object KIND, name NAME, scope SCOPE, is_default DEFAULT flag, before BEFORE`

/** A policy or preference that may be the default of its scope. */
type Stored = {
  id: string
  object: 'guardrail_policy' | 'routing_preference'
  name: string
  scope: 'personal' | 'team'
  org_id: string | null
  is_default: boolean
}
type Defaults = Pick<Resource<Stored, never, { is_default: boolean }>, 'list' | 'update'>

/**
 * The set-default and unset-default commands of a resource (docs/operating.md 2.10). Each scope has one default. The
 * output names the old one.
 */
export function defaultVerbs(resource: ResourceName, id: string) {
  const what = KINDS[resource]
  const command = commandsOf(resource, { apis, columns: defaultColumns })

  const set = command`set-default: Make a ${what} the default of its scope
  Every key of the scope that has none of its own uses it, from the next request. The output names the previous default.
  $ ${resource} set-default ${id}`({
    args: { policy: argument(`id or name of a ${what}`) },
    async find(shell, { policy }) {
      const all = await storedOf(shell, resource)
      const found = pickNamed(all, policy, what)
      // Operators see everyone's personal policies but not their owners, unless --org names one; then the server
      // answers 409. Whether `other` is the current default of the same kind and owner.
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
      return { found, before }
    },
    action: ({ found, before }) =>
      found.is_default ? undefined : `make ${found.name} the default${before ? ` instead of ${before.name}` : ''}`,
    async answer({ shell }, { found, before }) {
      if (found.is_default) return { ...found, before: found.id }
      const resource = await resourceOf(shell, found)
      if (before) await resource.update(before.id, { is_default: false })
      try {
        return { ...(await resource.update(found.id, { is_default: true })), before: before?.id ?? null }
      } catch (error) {
        if (before) await resource.update(before.id, { is_default: true })
        throw error
      }
    },
    note(_, { found, before }) {
      if (found.is_default) return `${found.name} is already the default. Nothing was changed.`
      return before && `Previous default: ${before.name}. Restore it: svc-admin ${resource} set-default ${before.id}`
    },
  })

  const unset = command`unset-default (exits 3): Stop using a ${what} as the default
  From the next request, keys without one of their own use none. Without an id it clears the only default.
  $ ${resource} unset-default
  $ ${resource} unset-default ${id} --json`({
    args: { policy: optional(`id or name of a ${what}; optional when there is only one default`) },
    flags: { only: choice(['personal', 'team'], 'only the default of this scope') },
    async find(shell, { policy, only }) {
      const all = (await storedOf(shell, resource)).filter(({ scope }) => only === undefined || scope === only)
      if (policy !== undefined) return { found: pickNamed(all, policy, what) }
      const defaults = all.filter((one) => one.is_default)
      if (defaults.length <= 1) return { found: defaults[0] ?? null }
      const shown = defaults.map(({ id, object, scope, name }) => `${id}  ${object} ${scope} ${name}`)
      throw usageFailure(`There are ${defaults.length} defaults:\n${shown.join('\n')}`, 'add the id of one of them')
    },
    action: ({ found }) => (found?.is_default ? `stop using ${found.name} as the default` : undefined),
    async answer({ shell }, { found }) {
      if (!found?.is_default) return found && { ...found, before: null }
      const made = await (await resourceOf(shell, found)).update(found.id, { is_default: false })
      return { ...made, before: found.id }
    },
    note(_, { found }) {
      if (found?.is_default) return `Restore it: svc-admin ${resource} set-default ${found.id}`
      return `${found ? `${found.name} is not a default` : 'There is no default'}. Nothing was changed.`
    },
  })

  return [set, unset]
}

const resourceOf = async (shell: Shell, { object }: Stored): Promise<Defaults> =>
  (object === 'guardrail_policy'
    ? await resourceOver(shell, 'guardrail-policies')
    : await resourceOver(shell, 'routing-preferences')) as Defaults

async function storedOf(shell: Shell, resource: ResourceName): Promise<Stored[]> {
  const policies = resource === 'routing' ? [] : await everyOf(await resourceOver(shell, 'guardrail-policies'))
  const preferences = resource === 'guardrails' ? [] : await everyOf(await resourceOver(shell, 'routing-preferences'))
  return [...policies, ...preferences]
}
