import type { Tool } from '../tool'

/** The tools this server brings by itself. */
export const createSystemTools = (): Tool[] => []
