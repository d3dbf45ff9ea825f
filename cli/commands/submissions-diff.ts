import { defineCommand } from '../command'
import { expectData } from '../failure'
import { column } from '../output/columns'
import { argument } from '../words'

const columns = [
  column('path', 'MEMBER'),
  column('sign', ' '),
  column('number', 'LINE', { kind: 'number' }),
  column('mark', '!'),
  column('text', 'TEXT'),
]

export const diffSubmission = defineCommand({
  path: 'submissions diff',
  summary: 'Show what a submission changes against the live version',
  about:
    'Line by line for every member that differs; ! marks phrases to read twice. Ends with the sha that approving tier security asks for.',
  examples: [
    'submissions diff 2f0f6c4e-8a35-4c1b-9d52-0a4f1f1f7c11',
    'submissions diff 2f0f6c4e-8a35-4c1b-9d52-0a4f1f1f7c11 --json',
  ],
  planes: ['operator'],
  offline: true,
  impact: 'read',
  danger: 'none',
  exits: [3, 4, 7],
  columns,
  args: { submission: argument('id of the submission') },
  async run(shell, { submission }) {
    const connection = await shell.connect()
    const one = connection.ops().submissions({ ref: encodeURIComponent(submission) })
    const { parts, sha, added, removed } = expectData(await one.diff.get())
    const rows = parts.flatMap(({ path, lines }) =>
      lines.map(({ sign, number, text, suspicious }) => ({ path, sign, number, mark: suspicious ? '!' : '', text })),
    )
    const end = { path: 'sha', sign: '', number: rows.length, mark: '', text: sha }
    shell.print.list([...rows, end], columns, `Nothing differs (+${added} -${removed}).`)
  },
})
