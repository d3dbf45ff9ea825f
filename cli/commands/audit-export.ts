import { apiOf, queryOf } from '../api'
import { defineCommand } from '../command'
import { deliver, piecesOf } from '../download'
import { expectData, usageFailure } from '../failure'
import { formatOf } from '../globals'
import { safeJson } from '../output/json'
import type { Shell } from '../shell'
import { fromHere } from '../transport'
import { flag, text } from '../words'
import { args, common, filters, wordsOf } from './audit'

export const exportAudit = defineCommand({
  ...common,
  path: 'audit export',
  summary: 'Write the audit events of an owner as CSV or JSON lines, newest first',
  about:
    'Writes the file of GET /audit/export as it is read, and records audit.exported. The file is CSV. With -o jsonl it contains the events with their hashes, one per line. --checkpoint first writes the newest signed checkpoint; audit verify needs both files. With --sign the server signs the file into FILE.sig. Filters other than --from and --to leave out events, so the chain cannot be verified.',
  examples: [
    'audit export --out audit.csv --checkpoint checkpoint.json',
    'audit export -o jsonl --out audit.jsonl --sign',
    'audit export acme --from 2026-01-01 --to 2026-01-31 > january.csv',
  ],
  exits: [3],
  args,
  flags: {
    ...filters,
    out: text('FILE', 'file to write instead of stdout; readable only by you'),
    checkpoint: text('FILE', 'file for the newest signed checkpoint'),
    sign: flag('write a detached signature next to --out, as FILE.sig'),
  },
  async run(shell, { owner = shell.globals.org, out, checkpoint, sign, ...given }) {
    const format = fileFormat(shell)
    if (sign && !out)
      throw usageFailure('--sign needs --out, because it writes the signature next to that file.', 'add --out FILE')
    const { isOperator, ownerFilter } = await apiOf(shell, { owner })
    const { fetch, ops, tenant } = await shell.connect()
    if (checkpoint) {
      const newest = isOperator
        ? expectData(await ops().audit.head.get({ query: ownerFilter })).checkpoint
        : expectData(await (await tenant()).client.audit.checkpoint.get())
      await Bun.write(fromHere(shell.cwd, checkpoint), `${safeJson(newest)}\n`)
    }
    const file = await fetch(`audit/export?${queryOf({ ...wordsOf(shell, given), ...ownerFilter, format })}`)
    await deliver(shell, await piecesOf(file), out)
    if (!sign) return
    const hint = 'add --checkpoint FILE, which is signed too'
    if (!isOperator) throw usageFailure('--sign is for operators.', hint)
    const ref = file.headers.get('x-request-id') ?? ''
    const signature = expectData(await ops().audit.signatures({ ref }).get())
    await Bun.write(`${fromHere(shell.cwd, out!)}.sig`, `${safeJson(signature)}\n`)
    shell.note(`Signed: svc-admin audit verify --export ${out} --signature ${out}.sig`)
  },
})

/** The file format for `-o`; a table is not possible. @throws CommandFailed 2 */
function fileFormat({ globals }: Shell): 'csv' | 'jsonl' {
  const question = formatOf(globals)
  if (question === 'jsonl' || question === 'json') return 'jsonl'
  if (question === 'csv' || question === 'table') return 'csv'
  throw usageFailure(`audit export writes csv or jsonl, not ${question}.`, '-o jsonl')
}
