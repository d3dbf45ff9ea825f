import type { OperatorRole } from '../../../../kernel/caller'
import type { Boot } from '../../../routes-console'

/** Facts about the server and the reader from the time the page was opened. */
export const boot: Boot = JSON.parse(document.getElementById('boot')!.textContent!)

/** The owner whose rows are shown. Only operators have `looksAt`: an owner, or null for all rows. */
export type Owner = Boot['owners'][number] & { looksAt?: string | null }

/** The owner in an address: one of the reader's own, or for operators everybody or any owner. */
export function ownerAt(slug: string): Owner | undefined {
  const found = boot.owners.find((candidate) => candidate.slug === slug || `org:${candidate.id}` === slug)
  const everybody = boot.operator_role !== null && boot.owners.find((candidate) => candidate.slug === 'all')
  if (!everybody) return found
  if (found === everybody) return { ...everybody, looksAt: null }
  const [kind, id] = slug.split(':')
  if (found || !id || (kind !== 'org' && kind !== 'user')) return found
  return { ...everybody, slug, id: kind === 'org' ? id : null, name: slug, looksAt: slug }
}

/** True if the reader may do what this operator role may do. The admin may do everything. */
export const mayOperate = (role: OperatorRole): boolean => ['admin', role].includes(boot.operator_role ?? '')

/** The address of a file or page of this server, including its prefix. */
export const at = (path: string): string => boot.base_path + path

/** Address of the reference, which has a page for each error. */
export const DOCS = at('/docs')
