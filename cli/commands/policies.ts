import { randomBase62 } from '../../src/kernel/crypto'
import type { AppError } from '../../src/kernel/errors'
import { columnsOf, commandsOf } from '../command'
import { CommandFailed, EXIT, usageFailure } from '../failure'
import { formatOf } from '../globals'
import { isStructured } from '../output/print'
import {
  changesOf,
  contentOf,
  documentFrom,
  type FiledPolicy,
  readPolicyFiles,
  type Stored,
  spelled,
  writePolicyFiles,
} from '../policy-files'
import { everyOf, type Resource, resourceOver } from '../resource'
import { assertSeesContent } from '../roles'
import type { Shell } from '../shell'
import { flag, needed, text } from '../words'
import { POLICY_ID } from './guardrails'
import { defaultVerbs } from './resource-commands'

const columns = columnsOf`
  action ACTION, object KIND, scope SCOPE, name NAME, fields CHANGES list, file FILE, id ID wide`

const command = commandsOf('policies', { apis: ['tenant', 'operator'] })

type Any = Resource<Stored, Record<string, unknown>, Record<string, unknown>>
type Resources = Record<Stored['object'], Any>

const EQUAL = 'Nothing to change: the server matches the files.'

/** A file with the content that the server would store. */
type Wanted = FiledPolicy & { content: Record<string, unknown> }
type Step = Pick<Stored, 'object' | 'scope' | 'name'> & {
  action: 'create' | 'update' | 'delete' | 'keep'
  file: string | null
  content: Record<string, unknown>
  stored: Stored | null
  fields: string[]
  /** The default of the scope, which this step replaces. */
  former?: Stored | undefined
  /** The former default, if it has no file, so that no other step changes it. */
  released?: Stored | undefined
}

const keyOf = ({ object, scope, name }: Pick<Stored, 'object' | 'scope' | 'name'>) =>
  JSON.stringify([object, scope, name])

/**
 * The steps that make the stored policies equal to the files. Stored policies without a file only lose the default when
 * a file takes it over. With `prune` they are deleted at the end. Among several of one name, identical copies are kept
 * and the others are matched in order. @throws CommandFailed 2 for too many files of a name
 */
function planOf(wanted: readonly Wanted[], all: readonly Stored[], prune: boolean): Step[] {
  const left = Map.groupBy(all, keyOf)
  for (const [key, copies] of Map.groupBy(wanted, ({ document }) => keyOf(document))) {
    // Names are not unique, so as many files of a name are allowed as are stored. More are probably a forgotten copy.
    if (copies.length < 2 || copies.length <= (left.get(key)?.length ?? 0)) continue
    const { object, name } = copies[0]!.document
    const files = copies.map(({ file }) => file).join(' and in ')
    throw usageFailure(`${object} "${name}" is in ${files}. Leave one out, or give it another name.`)
  }
  /** Takes the first unmatched stored policy that has the document's key and that `fits`. */
  const take = ({ document }: Wanted, fits: (stored: Stored) => boolean) => {
    const candidates = left.get(keyOf(document)) ?? []
    const place = candidates.findIndex(fits)
    return place < 0 ? undefined : candidates.splice(place, 1)[0]
  }
  const same = new Map(wanted.map((one) => [one, take(one, (stored) => !changesOf(one.content, stored).length)]))
  const steps = wanted.map((one): Step => {
    const { file, content } = one
    const { object, scope, name } = one.document
    const stored = same.get(one) ?? take(one, () => true) ?? null
    const fields = stored ? changesOf(content, stored) : []
    const former = all.find(
      (other) => other.is_default && other !== stored && other.object === object && other.scope === scope,
    )
    const action = stored === null ? 'create' : fields.length ? 'update' : 'keep'
    return {
      action,
      file,
      content,
      stored,
      fields,
      former: content.is_default ? former : undefined,
      object,
      scope,
      name,
    }
  })
  const unfiled = [...left.values()].flat()
  const gone = unfiled.map((stored): Step => {
    const { object, scope, name } = stored
    return { action: 'delete', file: null, content: {}, stored, fields: [], object, scope, name }
  })
  const released = ({ former }: Step) => (former && unfiled.includes(former) ? former : undefined)
  return [...steps.map((step) => ({ ...step, released: released(step) })), ...(prune ? gone : [])]
}

/** The row of a step, after that of the default that it releases. */
function rowsOf(
  { action, object, scope, name, fields, file, stored, released }: Step,
  id: string | null = stored?.id ?? null,
) {
  const row = { action, object, scope, name, fields: action === 'update' ? fields : [], file, id }
  if (!released) return [row]
  const former = { name: released.name, id: released.id, fields: ['is_default'], file: null }
  return [{ ...row, ...former, action: 'update' as const }, row]
}

/** Executes the steps and prints what was done, even when one fails. */
async function executeAll(shell: Shell, resources: Resources, steps: readonly Step[]): Promise<void> {
  const done: object[] = []
  try {
    for (const step of steps) done.push(...rowsOf(step, (await execute(resources[step.object], step)) ?? undefined))
  } catch (error) {
    shell.print.list(done, columns, 'Nothing was changed.')
    throw error
  }
  shell.print.list(done, columns, EQUAL)
}

/** Returns the id of a created policy. Gives the default back if the step that takes it over fails. */
async function execute(resource: Any, { action, stored, content, scope, former }: Step): Promise<string | null> {
  if (action === 'keep') return null
  if (action === 'delete') await resource.remove(stored!.id)
  else {
    if (former) await resource.update(former.id, { is_default: false })
    try {
      if (action === 'update') await resource.update(stored!.id, content)
      else return (await resource.create({ ...content, scope }, { 'idempotency-key': randomBase62(24) })).id
    } catch (error) {
      if (former) await resource.update(former.id, { is_default: true })
      throw error
    }
  }
  return null
}

/**
 * Checks all documents as the server would before applying any, so that nothing is applied partially.
 * @throws CommandFailed 2, naming every invalid file
 */
async function reviewed(filed: readonly FiledPolicy[]): Promise<Wanted[]> {
  // Each kind and scope has at most one default (docs/api.md 12, 13).
  const defaults = filed.filter(({ document }) => document.is_default === true)
  for (const rivals of Map.groupBy(defaults, ({ document }) => `${document.object} ${document.scope}`).values()) {
    if (rivals.length < 2) continue
    const { object, scope } = rivals[0]!.document
    const named = rivals.map(({ file, document }) => `"${document.name}" in ${file}`).join(' and ')
    const what = `the default ${object} of scope ${scope}`
    throw usageFailure(`${named} are each ${what}. Leave "is_default" out of all but one.`)
  }
  const wanted: Wanted[] = []
  const found: { code: string; message: string }[] = []
  for (const one of filed) {
    try {
      wanted.push({ ...one, content: await contentOf(one.document) })
    } catch (error) {
      // Compares by name, because the class is loaded together with the checks.
      const { kind, code, message } = error as AppError
      if (kind !== 'invalid') throw error
      found.push({ code, message: `${one.file}: "${one.document.name}": ${message}` })
    }
  }
  const [first] = found
  if (!first) return wanted
  const message = `${found.map((one) => one.message).join('\n')}\nNothing was changed.`
  throw new CommandFailed({ exitCode: EXIT.usage, code: first.code, message, help: `error ${first.code}` })
}

/** The policies and preferences of the owner of the key in use, or of `--org`, over their routes. */
async function storedBy(shell: Shell) {
  const own = shell.globals.org === undefined
  const guardrails = await resourceOver(shell, 'guardrail-policies', { own })
  const routing = await resourceOver(shell, 'routing-preferences', { own })
  const stored: Stored[] = [...(await everyOf(guardrails)), ...(await everyOf(routing))]
  return { guardrails, routing, stored }
}

const policiesColumns = columnsOf`file FILE, object KIND, scope SCOPE, name NAME, is_default DEFAULT flag`

/** Commands common to guardrail policies and routing preferences (docs/operating.md 2.10). */
export const policyCommands = [
  ...defaultVerbs('policies', POLICY_ID),
  command`apply (writes, moderate): Apply policies and preferences from files
  Takes a folder, a file or stdin in the format of policies export. Each item is found by its kind, scope and name; members that its file leaves out are cleared. Items without a file stay, unless --prune deletes them. All files are read first, also with --dry-run. If a rule is wrong, or a scope has two defaults, nothing is applied. Then the items are applied one by one. If the server refuses one, the rest is skipped, and the changes so far are printed. Items belong to the owner of the key in use, or on the server's machine to --org.
  $ policies apply -f policies/ --dry-run --exit-code
  $ policies apply -f policies/ --prune --yes`({
    columns,
    flags: {
      file: needed({ ...text('DIR', 'the folder, or one file; - reads stdin'), short: 'f' }, 'add -f policies/'),
      prune: flag('delete what no file has'),
    },
    async run(shell, { file, prune }) {
      const wanted = await reviewed(await readPolicyFiles(shell, file))
      const { guardrails, routing, stored } = await storedBy(shell)
      const steps = planOf(wanted, stored, prune === true)
      const rows = steps.flatMap((step) => rowsOf(step))
      const changes = rows.filter(({ action }) => action !== 'keep')
      if (!changes.length || shell.globals.dryRun) shell.print.list(rows, columns, EQUAL)
      if (!changes.length || shell.planned(`make ${changes.length} changes`)) return
      const doomed = changes.flatMap(({ action, name }) => (action === 'delete' ? [name] : []))
      if (doomed.length) shell.confirm(`Delete ${doomed.join(', ')}, which no file has?`)
      const resources = { guardrail_policy: guardrails, routing_preference: routing } as unknown as Resources
      await executeAll(shell, resources, steps)
    },
  }),
  command`export: Write all guardrail policies and routing preferences as files
  Writes one YAML file for each into the folder of --out, in the format of policies apply. Without --out they go to stdout. It exports those of the key in use, or on the server's machine those of --org.
  $ policies export --out policies/
  $ policies export --org acme > policies.yaml`({
    columns: policiesColumns,
    flags: { out: text('DIR', 'a folder for the files; created if it does not exist') },
    async run(shell, { out }) {
      await assertSeesContent(shell)
      const documents = (await storedBy(shell)).stored.map(documentFrom)
      if (out !== undefined) {
        const files = writePolicyFiles(shell, out, documents)
        const rows = documents.map((document, index) => ({ file: files[index], ...document }))
        return shell.print.list(rows, policiesColumns, 'No policies. Nothing was written.')
      }
      if (isStructured(formatOf(shell.globals))) return shell.print.list(documents, policiesColumns, 'No policies.')
      if (!documents.length) return shell.note('No policies.')
      for (const line of documents.map(spelled).join('---\n').trimEnd().split('\n')) shell.io.out(line)
    },
  }),
]
