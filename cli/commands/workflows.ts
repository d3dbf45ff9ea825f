import { column, idColumn } from '../output/columns'
import { resourceCommands } from './resource-commands'

/** Workflows (contract 10); their runs are in `workflows-runs`. */
export const workflowCommands = resourceCommands({
  path: 'workflows',
  resource: 'workflows',
  what: 'workflow',
  many: 'workflows',
  columns: [
    idColumn,
    column('name', 'NAME'),
    column('triggerType', 'TRIGGER'),
    column('enabled', 'ON', { kind: 'flag' }),
    column('steps', 'STEPS', { show: ({ steps }) => String((steps as unknown[]).length) }),
    column('nextRunAt', 'NEXT', { kind: 'time' }),
    column('lastRunAt', 'LAST', { kind: 'time' }),
    column('createdAt', 'CREATED', { kind: 'time', wide: true }),
    column('updatedAt', 'CHANGED', { kind: 'time', wide: true }),
  ],
  id: '4f0b7f0e-6f7e-4d0a-9a52-0d9f6b1f2c11',
  file: 'workflow.json',
  arg: 'workflow',
  stays: 'Runs that already started will finish.',
})
