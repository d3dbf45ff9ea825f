import { defineCommand } from '../command'
import { column } from '../output/columns'
import { resourceOver } from '../resource'
import { resolveRuleSet } from '../rule-set'
import { argument } from '../words'

const columns = [column('id', 'ID'), column('name', 'NAME'), column('enabled', 'ON', { kind: 'flag' })]

const enabling = (verb: 'enable' | 'disable', about: string) =>
  defineCommand({
    apis: ['tenant', 'operator'],
    columns,
    path: `workflows ${verb}`,
    summary: verb === 'enable' ? 'Enable a workflow' : 'Disable a workflow',
    about,
    examples: [`workflows ${verb} 4f0b7f0e-…`, `workflows ${verb} "Daily news" --json`],
    impact: 'write',
    exits: [3, 5],
    args: { workflow: argument('id or name of the workflow') },
    async run(shell, { workflow }) {
      if (shell.planned(`${verb} workflow ${workflow}`)) return
      const all = await resourceOver(shell, 'workflows')
      const found = await resolveRuleSet(all as never, workflow, 'workflow')
      shell.print.item(await all.update(found, { enabled: verb === 'enable' }), columns)
    },
  })

export const workflowEnableCommands = [
  enabling('enable', 'Its schedule continues from now. Events that happened while it was disabled do not start runs.'),
  enabling('disable', 'Runs that already started will finish.'),
]
