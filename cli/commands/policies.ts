import { randomBase62 } from '../../src/kernel/crypto'
import type { AppError } from '../../src/kernel/errors'
import { columnsOf, commandsOf } from '../command'
import { CommandFailed, EXIT, usageFailure } from '../failure'
import { formatOf } from '../globals'
import { isStructured } from '../output/print'
import {
  documentFrom,
  type FiledPolicy,
  planOf,
  readPolicyFiles,
  type Step,
  type Stored,
  spelled,
  wholeOf,
  wordsOf,
  writePolicyFiles,
} from '../policy-files'
import { everyOf, type Resource, resourceOver } from '../resource'
import { assertSeesContent } from '../roles'
import type { Shell } from '../shell'
import { flag, needed, text } from '../words'
import { POLICY_ID } from './guardrails'
import { defaultVerbs } from './resource-commands'

/** Compares by name, because the class is loaded together with the checks. */
const isRefusal = (error: unknown): error is AppError =>
  error instanceof Error && 'kind' in error && error.kind === 'invalid' && 'code' in error

const columns = columnsOf`
  action ACTION, object KIND, scope SCOPE, name NAME, fields CHANGES list, file FILE, id ID wide`

const command = commandsOf('policies', { apis: ['tenant', 'operator'] })

type Any = Resource<Stored, Record<string, unknown>, Record<string, unknown>>
type Resources = Record<Stored['object'], Any>

const EQUAL = 'Nothing to change: the server matches the files.'

type Row = Omit<ReturnType<typeof shown>, 'id'> & { id: string | null }

function shown(step: Step) {
  const { object, scope, name } = wordsOf(step)
  return {
    action: step.action,
    object,
    scope,
    name,
    fields: step.action === 'update' ? step.fields : [],
    file: step.action === 'delete' ? null : step.file,
    id: step.action === 'create' ? null : step.stored.id,
  }
}

/** Executes the steps and prints what was done, even when one fails. Restores a default that it had unset. */
async function executeAll(shell: Shell, resources: Resources, steps: readonly Step[]): Promise<void> {
  const done: Row[] = []
  for (const [index, step] of steps.entries()) {
    try {
      done.push({ ...shown(step), id: (await execute(resources, step)) ?? shown(step).id })
    } catch (error) {
      if (await wasGivenBack(resources, steps[index - 1], step)) done.pop()
      shell.print.list(done, columns, 'Nothing was changed.')
      throw error
    }
  }
  shell.print.list(done, columns, EQUAL)
}

/** Returns true if the previous step only unset the old default and could be undone. */
async function wasGivenBack(resources: Resources, before: Step | undefined, step: Step): Promise<boolean> {
  const madeRoom = before?.action === 'update' && before.file === null
  if (!madeRoom || step.action === 'delete' || step.document.is_default !== true) return false
  try {
    await resources[before.stored.object].update(before.stored.id, { is_default: true })
    return true
  } catch {
    return false
  }
}

/** Returns the id of the created or changed policy, or null. */
async function execute(resources: Resources, step: Step): Promise<string | null> {
  if (step.action === 'keep') return null
  if (step.action === 'delete') {
    await resources[step.stored.object].remove(step.stored.id)
    return null
  }
  const { scope, ...content } = wholeOf(step.document)
  const resource = resources[step.document.object]
  if (step.action === 'create') {
    const headers = { 'idempotency-key': randomBase62(24) }
    return (await resource.create({ ...content, scope }, headers)).id
  }
  return (await resource.update(step.stored.id, step.file === null ? { is_default: false } : content)).id
}

/**
 * Checks all documents as the server would before applying any, so that nothing is applied partially.
 * @throws CommandFailed 2, naming every invalid file
 */
async function assertApplicable(filed: readonly FiledPolicy[]): Promise<void> {
  assertOneDefault(filed)
  // Loaded here, because loading the checks takes longer than most commands run.
  const { reviewPolicy } = await import('../../src/guardrails/policy')
  const { reviewPreference } = await import('../../src/routing/rules')
  const found: { code: string; message: string }[] = []
  for (const { file, document } of filed) {
    const review = document.object === 'guardrail_policy' ? reviewPolicy : reviewPreference
    try {
      await review(wholeOf(document))
    } catch (error) {
      if (!isRefusal(error)) throw error
      found.push({ code: error.code, message: `${file}: "${document.name}": ${error.message}` })
    }
  }
  const [first] = found
  if (!first) return
  const message = `${found.map((one) => one.message).join('\n')}\nNothing was changed.`
  throw new CommandFailed({ exitCode: EXIT.usage, code: first.code, message, help: `error ${first.code}` })
}

/** Each kind and scope has at most one default (docs/api.md 12, 13). @throws CommandFailed 2 */
function assertOneDefault(filed: readonly FiledPolicy[]): void {
  const defaults = filed.filter(({ document }) => document.is_default === true)
  for (const rivals of Map.groupBy(defaults, ({ document }) => `${document.object} ${document.scope}`).values()) {
    if (rivals.length < 2) continue
    const { object, scope } = rivals[0]!.document
    const named = rivals.map(({ file, document }) => `"${document.name}" in ${file}`).join(' and ')
    const what = `the default ${object} of scope ${scope}`
    throw usageFailure(`${named} are each ${what}. Leave "is_default" out of all but one.`)
  }
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
      const filed = await readPolicyFiles(shell, file)
      await assertApplicable(filed)
      const { guardrails, routing, stored } = await storedBy(shell)
      const steps = planOf(filed, stored, prune === true)
      const changes = steps.filter(({ action }) => action !== 'keep')
      if (!changes.length) return shell.print.list(steps.map(shown), columns, EQUAL)
      const doomed = changes.filter(({ action }) => action === 'delete')
      if (shell.globals.dryRun) shell.print.list(steps.map(shown), columns, EQUAL)
      if (shell.planned(`make ${changes.length} changes`)) return
      if (doomed.length)
        shell.confirm(`Delete ${doomed.map((step) => shown(step).name).join(', ')}, which no file has?`)
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
