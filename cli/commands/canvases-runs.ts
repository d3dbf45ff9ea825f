import type { CanvasProblem } from '../../src/automation/canvases-schema'
import { randomBase62 } from '../../src/kernel/crypto'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { CommandFailed, EXIT, expectData } from '../failure'
import { column, idColumn } from '../output/columns'
import { pageFlags, printPages } from '../pages'
import { resourceOver } from '../resource'
import { resolveRuleSet } from '../rule-set'
import { argument, choice, optional, text } from '../words'

const CANVAS = argument('id or name of the canvas')
const ID = '9c3a1d44-5b0e-4f43-8b30-7d3c7f1f4e21'
const RUN_ID = '0c9a3f52-1f0e-4a7b-8f15-2e1d5b7a9c33'

const workflowColumns = [
  idColumn,
  column('name', 'NAME'),
  column('triggerType', 'TRIGGER'),
  column('enabled', 'ON', { kind: 'flag' }),
  column('steps', 'STEPS', { show: ({ steps }) => String((steps as unknown[]).length) }),
  column('nextRunAt', 'NEXT', { kind: 'time' }),
]

const compileToWorkflow = defineCommand({
  apis: ['tenant'],
  columns: workflowColumns,
  path: 'canvases workflow',
  summary: 'Compile a canvas into its workflow',
  about:
    'The first run creates the workflow, and later runs update it. Runs that already started keep their steps. Exits 5 when the canvas does not compile, and names the nodes.',
  examples: [`canvases workflow ${ID}`, 'canvases workflow "Order desk" --enabled no --json'],
  impact: 'write',
  exits: [3, 5],
  args: { canvas: CANVAS },
  flags: {
    name: text('NAME', 'name of the workflow; the name of the canvas by default'),
    enabled: choice(['yes', 'no'], 'whether its trigger starts it'),
  },
  async run(shell, { canvas, name, enabled }) {
    if (shell.planned(`compile canvas ${canvas} into its workflow`)) return
    const { client } = await (await shell.connect()).tenant()
    const id = await resolveRuleSet(await resourceOver(shell, 'canvases', { own: true }), canvas, 'canvas')
    const input = {
      ...(name === undefined ? {} : { name }),
      ...(enabled === undefined ? {} : { enabled: enabled === 'yes' }),
    }
    const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
    const made = await client.evi.canvases({ id: encodeURIComponent(id) }).workflow.post(input, { headers })
    assertCompiled(made)
    shell.print.item(expectData(made).workflow, workflowColumns)
  },
})

/** What does not compile is answered in a shape of its own (contract 9.2). @throws CommandFailed 5 */
function assertCompiled({ error }: { error: { value: unknown } | null }): void {
  const { errors } = (error?.value ?? {}) as { errors?: readonly CanvasProblem[] }
  if (!errors?.length) return
  const message = errors
    .map(({ nodeId, message }) => `${nodeId === undefined ? '' : `${nodeId}: `}${message}`)
    .join('\n')
  throw new CommandFailed({
    exitCode: EXIT.conflict,
    code: errors[0]!.code,
    message,
    fix: 'draw it again, then retry',
  })
}

const runColumns = [
  idColumn,
  column('status', 'STATUS'),
  column('stepsCompleted', 'STEPS', { kind: 'number' }),
  column('triggerType', 'TRIGGER'),
  column('error', 'ERROR'),
  column('startedAt', 'BEGUN', { kind: 'time' }),
  column('completedAt', 'ENDED', { kind: 'time' }),
]
const nodeColumns = [
  column('nodeId', 'NODE', { keep: true }),
  column('name', 'NAME'),
  column('type', 'TYPE'),
  column('status', 'STATUS'),
  column('times', 'TIMES', { kind: 'number', min: true }),
  column('costCents', 'COST', { kind: 'money', min: true }),
  column('error', 'ERROR'),
  column('output', 'OUTPUT', { wide: true }),
  column('startedAt', 'BEGUN', { kind: 'time', wide: true }),
  column('completedAt', 'ENDED', { kind: 'time', wide: true }),
]

const canvasRuns = defineCommand({
  apis: ['tenant', 'operator'],
  columns: runColumns,
  path: 'canvases runs',
  summary: 'List the runs of a canvas, or what one run did at each node',
  about:
    'With the id of a run it lists the nodes in the order of the steps. With --watch it is read every two seconds.',
  examples: [`canvases runs ${ID}`, `canvases runs "Order desk" ${RUN_ID} --watch`],
  impact: 'read',
  exits: [3],
  watchable: true,
  args: { canvas: CANVAS, run: optional('id of the run') },
  flags: pageFlags,
  async run(shell, { canvas, run: runId, ...paging }) {
    // In an object: the client of a route looks like a promise to whoever awaits it.
    const { api } = await apiOf(shell)
    const id = await resolveRuleSet(await resourceOver(shell, 'canvases'), canvas, 'canvas')
    const { one } = { one: api.evi.canvases({ id: encodeURIComponent(id) }) }
    if (runId !== undefined) {
      const { run } = expectData(await one.runs({ runId: encodeURIComponent(runId) }).get())
      return shell.print.list(run.nodes, nodeColumns, 'This run has no nodes.')
    }
    await printPages(shell, paging, {
      page: async (input) => {
        const found = expectData(await one.runs.get({ query: input }))
        return { items: found.runs, next: found.next_cursor }
      },
      columns: runColumns,
      empty: 'No runs yet. Create the workflow with svc-admin canvases workflow.',
    })
  },
})

export const canvasRunCommands = [compileToWorkflow, canvasRuns]
