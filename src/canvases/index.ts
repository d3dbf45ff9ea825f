/** Canvases: skills drawn as graphs, which are checked, compiled into workflow steps, tested and published. */
export { type CanvasService, createCanvases } from './service'
