import type { CanvasProblem } from '../../src/automation/canvases-schema'
import { apiOf, columnsOf, commandsOf, defined } from '../command'
import { CommandFailed, EXIT, expectData } from '../failure'
import { everyEntry, pageIn } from '../pages'
import { idAmong, resolveRuleSet, resourceOver } from '../resource'
import type { Shell } from '../shell'
import { argument, choice, optional, text } from '../words'
import { fileCommands } from './resource-commands'

const ID = '9c3a1d44-5b0e-4f43-8b30-7d3c7f1f4e21'

const RUN_ID = '0c9a3f52-1f0e-4a7b-8f15-2e1d5b7a9c33'

const nodeColumns = columnsOf`
  nodeId NODE keep, name NAME, type TYPE, status STATUS, times TIMES number min, costCents COST money min,
  error ERROR, output OUTPUT wide, startedAt BEGUN time wide, completedAt ENDED time wide`

const canvasAt = async (shell: Shell, word: string) => {
  const id = await resolveRuleSet(await resourceOver(shell, 'canvases'), word, 'canvas')
  return (await apiOf(shell)).api.evi.canvases({ id })
}
const idFor = idAmong(async (shell, { canvas }) => {
  const { runs } = await canvasAt(shell, String(canvas))
  return everyEntry((query) => pageIn(runs.get({ query }), 'runs'))
})
const args = {
  canvas: argument('id or name of the canvas'),
  run: { ...optional('id of the run, or the start of it'), idFor },
}
const command = commandsOf('canvases', { apis: ['tenant'], args })

export const canvasCommands = [
  /** Canvases (docs/api.md 9). Compiling, testing and publishing happen in the canvas editor. */
  ...fileCommands({
    path: 'canvases',
    resource: 'canvases',
    what: 'canvas',
    columns: columnsOf`
    id, name NAME, status STATUS, isPublic PUBLIC flag, publishedSkillId SKILL wide, description DESCRIPTION wide,
    createdAt CREATED time wide, updatedAt CHANGED time`,
    id: ID,
    file: 'canvas.json',
    arg: 'canvas',
    stays: 'The skill published from it stays.',
  }),
  command`workflow CANVAS: Compile a canvas into its workflow
  The first run creates the workflow, and later runs update it. Runs that already started keep their steps. Exits 5 when the canvas does not compile, and names the nodes.
  $ canvases workflow ${ID}
  $ canvases workflow "Order desk" --enabled no --json`({
    columns: columnsOf`
      id, name NAME, triggerType TRIGGER, enabled ON flag,
      steps STEPS ${({ steps }) => String((steps as unknown[]).length)}, nextRunAt NEXT time`,
    flags: {
      name: text('NAME', 'name of the workflow; the name of the canvas by default'),
      enabled: choice(['yes', 'no'], 'whether its trigger starts it'),
    },
    action: ({ canvas }) => `compile canvas ${canvas} into its workflow`,
    async answer({ client, shell, headers }, { canvas, name, enabled }) {
      const id = await resolveRuleSet(await resourceOver(shell, 'canvases', { own: true }), canvas, 'canvas')
      const input = defined({ name, enabled: enabled && enabled === 'yes' })
      const made = await client.evi.canvases({ id }).workflow.post(input, { headers })
      assertCompiled(made)
      return expectData(made).workflow
    },
  }),
  command`runs CANVAS RUN (tenant, operator, pages items): List the runs of a canvas, or what one run did at each node
  With the id of a run it lists the nodes in the order of the steps. With --watch it is read every two seconds.
  $ canvases runs ${ID}
  $ canvases runs "Order desk" ${RUN_ID} --watch`({
    columns: columnsOf`
  id, status STATUS, stepsCompleted STEPS number, triggerType TRIGGER, error ERROR, startedAt BEGUN time,
  completedAt ENDED time`,
    async answer({ shell, page }, { canvas, run: runId }): Promise<object> {
      const one = await canvasAt(shell, canvas)
      if (runId === undefined) return pageIn(one.runs.get({ query: page }), 'runs')
      const { run } = expectData(await one.runs({ runId }).get())
      return { items: run.nodes, next: null, columns: nodeColumns, empty: 'This run has no nodes.' }
    },
    empty: 'No runs yet. Create the workflow with svc-admin canvases workflow.',
  }),
]

/** Compile errors have their own answer shape (docs/api.md 9.2). @throws CommandFailed 5 */
function assertCompiled({ error }: { error: { value: unknown } | null }): void {
  const { errors } = (error?.value ?? {}) as { errors?: readonly CanvasProblem[] }
  if (!errors?.length) return
  const message = errors
    .map(({ nodeId, message }) => `${nodeId === undefined ? '' : `${nodeId}: `}${message}`)
    .join('\n')
  throw new CommandFailed({ exitCode: EXIT.conflict, code: errors[0]!.code, message, fix: 'draw it again, then retry' })
}
