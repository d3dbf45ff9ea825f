/** Loaded after the page is there: reads Markdown, which the first look at it does not need. */

import type { Formatting } from '../shared/formatting'
import { formatted } from '../shared/markdown'

dispatchEvent(new CustomEvent<Formatting>('svc-text', { detail: formatted }))
