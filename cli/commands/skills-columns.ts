import { column } from '../output/columns'
import { argument } from '../words'

export const skillColumns = [
  column('id', 'ID'),
  column('slug', 'SLUG'),
  column('name', 'NAME'),
  column('version', 'VERSION'),
  column('category', 'CATEGORY'),
  column('reviewStatus', 'STATUS'),
  column('visibility', 'FOR'),
  column('listed', 'LISTED', { kind: 'flag' }),
  column('installCount', 'INSTALLED', { kind: 'number' }),
  column('averageRating', 'STARS', { kind: 'number', wide: true }),
  column('owner', 'OWNER', { wide: true }),
  column('updatedAt', 'CHANGED', { kind: 'time', wide: true }),
]

export const skillArgument = { skill: argument('slug or id of the skill') }
export const checkColumns = [
  column('check', 'CHECK'),
  column('result', 'RESULT'),
  column('path', 'WHERE'),
  column('line', 'LINE', { kind: 'number' }),
  column('message', 'SEEN'),
]

type Checked = {
  checks: Record<string, string>
  findings: readonly { check: string; path: string; line: number | null; message: string }[]
}

/** One row per finding, and one for each check without findings. */
export const checkRows = ({ checks, findings }: Checked) =>
  Object.entries(checks).flatMap(([check, notice]) => {
    const result = notice.split(':')[0]!
    const own = findings.filter((one) => one.check === check)
    if (!own.length) return [{ check, result, path: '', line: null, message: '' }]
    return own.map(({ path, line, message }) => ({ check, result, path, line, message }))
  })

export const KEY_IN_USE = '--key is for operators; here the key in use applies.'
