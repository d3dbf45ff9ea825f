import type { OperatorRole } from '../../../../kernel/caller'
import type { Boot } from '../../../routes-console'

/** What the server says of itself and of the reader when the page is opened. */
export const boot: Boot = JSON.parse(document.getElementById('boot')!.textContent!)

/** Whose rows are shown. `looksAt` is there for operators alone: null for everybody's, else whose. */
export type Owner = Boot['owners'][number] & { looksAt?: string | null }

/** The owner that an address names: one of the reader's own, or for operators everybody or anybody. */
export function ownerAt(slug: string): Owner | undefined {
  const found = boot.owners.find((candidate) => candidate.slug === slug || `org:${candidate.id}` === slug)
  const everybody = boot.operator_role !== null && boot.owners.find((candidate) => candidate.slug === 'all')
  if (!everybody) return found
  if (found === everybody) return { ...everybody, looksAt: null }
  const [kind, id] = slug.split(':')
  if (found || !id || (kind !== 'org' && kind !== 'user')) return found
  return { ...everybody, slug, id: kind === 'org' ? id : null, name: slug, looksAt: slug }
}

/** Whether the reader may do as an operator what is for this role; the admin may do everything. */
export const mayOperate = (role: OperatorRole): boolean => ['admin', role].includes(boot.operator_role ?? '')

/** The address of a file or page of this server, below its prefix. */
export const at = (path: string): string => boot.base_path + path

/** Where the reference is, with a page for each error. */
export const DOCS = at('/docs')
