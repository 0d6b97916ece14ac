export { didYouMean, distance, nearest } from '@gantry/protocol';
