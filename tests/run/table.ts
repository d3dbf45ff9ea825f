import type { FileTally } from './children'

/**
 * A table of modules, which are the folders of `tests`: how many files and tests, and how long they took one by one.
 */
export function modulesTable(files: readonly FileTally[]): string {
  const modules = Map.groupBy(files, ({ file }) => file.split('/')[1]!)
  const rows = [...modules].sort(([a], [b]) => a.localeCompare(b, 'en')).map(([name, own]) => [name, ...sums(own)])
  const all = [['module', 'files', 'passed', 'failed', 'seconds'], ...rows, ['all', ...sums(files)]]
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  return all
    .map(([name, ...counts]) =>
      [name!.padEnd(widths[0]!), ...counts.map((text, index) => text.padStart(widths[index + 1]!))].join('  '),
    )
    .join('\n')
}

function sums(files: readonly FileTally[]): string[] {
  const sum = (pick: (tally: FileTally) => number) => files.reduce((total, tally) => total + pick(tally), 0)
  return [
    String(new Set(files.map(({ file }) => file)).size),
    String(sum(({ passed }) => passed)),
    String(sum(({ failed }) => failed)),
    sum(({ seconds }) => seconds).toFixed(1),
  ]
}
