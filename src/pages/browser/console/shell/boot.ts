import type { Boot } from '../../../routes-console'

/** What the server says of itself and of the reader when the page is opened. */
export const boot: Boot = JSON.parse(document.getElementById('boot')!.textContent!)

export type Owner = Boot['owners'][number]

/** The address of a file or page of this server, below its prefix. */
export const at = (path: string): string => boot.base_path + path

/** Where the reference is, with a page for each error. */
export const DOCS = at('/docs')
