/** Loaded after the page is shown. Parses Markdown, which the first view does not need. */

import type { Formatting } from '../shared/formatting'
import { formatted } from '../shared/markdown'

dispatchEvent(new CustomEvent<Formatting>('svc-text', { detail: formatted }))
