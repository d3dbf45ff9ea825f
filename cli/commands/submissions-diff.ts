import { clean } from '../../src/kernel/text'
import { defineCommand } from '../command'
import { expectData } from '../failure'
import { column } from '../output/columns'
import { argument, flag, text } from '../words'

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
    'Compares every member that differs, line by line; ! marks phrases to check twice. The last line is the sha that you need to approve tier security.',
  examples: [
    'submissions diff 2f0f6c4e-8a35-4c1b-9d52-0a4f1f1f7c11',
    'submissions diff 2f0f6c4e-8a35-4c1b-9d52-0a4f1f1f7c11 --json',
  ],
  apis: ['operator'],
  impact: 'read',
  exits: [3],
  columns,
  args: { submission: argument('id of the submission') },
  flags: {
    tool: text('NAME', 'only the changes of this tool'),
    unified: flag('as text, one file per member, with - and + at the start of lines'),
  },
  async run(shell, { submission, tool, unified }) {
    const connection = await shell.connect()
    const one = connection.ops().submissions({ ref: encodeURIComponent(submission) })
    const { parts: every, sha, added, removed } = expectData(await one.diff.get())
    const parts = tool === undefined ? every : every.filter(({ path }) => path === `tools.${tool}`)
    if (unified) return shell.io.out(`${[...parts.flatMap(asText), `sha ${sha}`].join('\n')}`)
    const rows = parts.flatMap(({ path, lines }) =>
      lines.map(({ sign, number, text, suspicious }) => ({ path, sign, number, mark: suspicious ? '!' : '', text })),
    )
    const end = { path: 'sha', sign: '', number: rows.length, mark: '', text: sha }
    shell.print.list([...rows, end], columns, `Nothing differs (+${added} -${removed}).`)
  },
})

type Part = { path: string; lines: readonly { sign: string; text: string }[] }

const asText = ({ path, lines }: Part): string[] => [
  `--- live/${clean(path)}`,
  `+++ submitted/${clean(path)}`,
  ...lines.map(({ sign, text: line }) => `${sign}${clean(line)}`),
]
