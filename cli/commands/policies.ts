import { defineCommand } from '../command'
import { formatOf } from '../globals'
import { column } from '../output/columns'
import { isStructured } from '../output/print'
import { documentFrom, spelled, writePolicyFiles } from '../policy-files'
import { resourceOver } from '../resource'
import { assertSeesContent } from '../roles'
import { everyOf } from '../rule-set'
import { text } from '../words'
import { POLICY_ID } from './guardrails-columns'
import { applyPolicies } from './policies-apply'
import { defaultVerbs } from './policies-default'

const columns = [
  column('file', 'FILE'),
  column('object', 'KIND'),
  column('scope', 'SCOPE'),
  column('name', 'NAME'),
  column('is_default', 'DEFAULT', { kind: 'flag' }),
]

const exportPolicies = defineCommand({
  path: 'policies export',
  summary: 'Write all guardrail policies and routing preferences as files',
  about:
    "Writes one YAML file for each into the folder of --out, in the format of policies apply. Without --out they go to stdout. It exports those of the key in use, or on the server's machine those of --org.",
  examples: ['policies export --out policies/', 'policies export --org acme > policies.yaml'],
  apis: ['tenant', 'operator'],
  impact: 'read',
  exits: [3],
  columns,
  flags: { out: text('DIR', 'a folder for the files; created if it does not exist') },
  async run(shell, { out }) {
    await assertSeesContent(shell)
    const own = shell.globals.org === undefined
    const policies = await everyOf(await resourceOver(shell, 'guardrail-policies', { own }))
    const stored = [...policies, ...(await everyOf(await resourceOver(shell, 'routing-preferences', { own })))]
    const documents = stored.map(documentFrom)
    if (out !== undefined) {
      const files = writePolicyFiles(shell, out, documents)
      const rows = documents.map((document, index) => ({ file: files[index], ...document }))
      return shell.print.list(rows, columns, 'No policies. Nothing was written.')
    }
    if (isStructured(formatOf(shell.globals))) return shell.print.list(documents, columns, 'No policies.')
    if (!documents.length) return shell.note('No policies.')
    for (const line of documents.map(spelled).join('---\n').trimEnd().split('\n')) shell.io.out(line)
  },
})

/** Commands common to guardrail policies and routing preferences (dx 2.10). */
export const policyCommands = [...defaultVerbs('policies', POLICY_ID), applyPolicies, exportPolicies]
