import { randomBase62 } from '../../src/kernel/crypto'
import { defineCommand } from '../command'
import { usageFailure } from '../failure'
import { column } from '../output/columns'
import { readPolicyFiles } from '../policy-files'
import { ownedPlanes } from '../policy-owner'
import { planOf, type Step, type Stored, wholeOf } from '../policy-plan'
import { everyOf } from '../rule-set'
import type { RuleSets } from '../rule-sets-plane'
import { flag, text } from '../words'

const columns = [
  column('action', 'ACTION'),
  column('object', 'KIND'),
  column('scope', 'SCOPE'),
  column('name', 'NAME'),
  column('fields', 'CHANGES', { kind: 'list' }),
  column('file', 'FILE'),
  column('id', 'ID', { wide: true }),
]

export const applyPolicies = defineCommand({
  path: 'policies apply',
  summary: 'Make the stored policies and preferences equal to files',
  about:
    'A folder, a file or stdin, as policies export writes them; each is known by its kind, scope and name, and what its file leaves out is emptied. What no file has is left as it is, unless --prune deletes it. They are applied one by one: what fails stops the rest. Of the key in use, or, on the machine of the server, of --org.',
  examples: ['policies apply -f policies/ --dry-run --exit-code', 'policies apply -f policies/ --prune --yes'],
  planes: ['tenant', 'operator'],
  offline: true,
  impact: 'write',
  danger: 'moderate',
  exits: [3, 4, 5, 7, 10],
  columns,
  flags: {
    file: { ...text('DIR', 'the folder, or one file; - is stdin'), short: 'f' },
    prune: flag('delete what no file has'),
  },
  async run(shell, { file, prune }) {
    if (file === undefined) throw usageFailure('policies apply needs -f DIR.', 'svc-admin policies apply -f policies/')
    const filed = await readPolicyFiles(shell, file)
    const { guardrails, routing } = await ownedPlanes(shell)
    const stored: Stored[] = [...(await everyOf(guardrails)), ...(await everyOf(routing))]
    const steps = planOf(filed, stored, prune === true)
    const changes = steps.filter(({ action }) => action !== 'keep')
    if (!changes.length) return shell.print.list(steps.map(shown), columns, 'Everything is as the files say.')
    const doomed = changes.filter(({ action }) => action === 'delete')
    if (shell.globals.dryRun) {
      shell.print.list(steps.map(shown), columns, 'Everything is as the files say.')
      shell.planned(`make ${changes.length} changes`)
      return
    }
    if (doomed.length) shell.confirm(`Delete ${doomed.map((step) => shown(step).name).join(', ')}, which no file has?`)
    const planes = { guardrail_policy: guardrails, routing_preference: routing } as unknown as Planes
    await stepDown(planes, steps, stored)
    const done = []
    for (const step of steps) done.push({ ...shown(step), id: (await carryOut(planes, step)) ?? shown(step).id })
    shell.print.list(done, columns, 'Everything is as the files say.')
  },
})

type Any = RuleSets<Stored, Record<string, unknown>, Record<string, unknown>>
type Planes = Record<Stored['object'], Any>

function shown(step: Step) {
  const { object, scope, name } = step.action === 'delete' ? step.stored : step.document
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

/** A scope has one default, so unset the old one before another takes its place. */
async function stepDown(planes: Planes, steps: readonly Step[], stored: readonly Stored[]): Promise<void> {
  for (const step of steps) {
    if (step.action !== 'create' && step.action !== 'update') continue
    const { object, scope, is_default } = step.document
    const own = step.action === 'update' ? step.stored.id : null
    const before = stored.find((one) => one.object === object && one.scope === scope && one.is_default)
    if (is_default === true && before && before.id !== own)
      await planes[object].update(before.id, { is_default: false })
  }
}

/** Returns the id of what the step created or changed, or null. */
async function carryOut(planes: Planes, step: Step): Promise<string | null> {
  if (step.action === 'keep') return null
  if (step.action === 'delete') {
    await planes[step.stored.object].remove(step.stored.id)
    return null
  }
  const { scope, ...content } = wholeOf(step.document)
  const plane = planes[step.document.object]
  if (step.action === 'update') return (await plane.update(step.stored.id, content)).id
  return (await plane.create({ ...content, scope }, randomBase62(24))).id
}
