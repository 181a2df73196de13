// Mocha's spec reporter, which also writes its counts to the file named by CORDON_TEST_RESULTS:
// after every test, so that a crash does not lose them, and with `isFinished` only at the end.
const { writeFileSync } = require('node:fs');
const Mocha = require('mocha');

const { Spec } = Mocha.reporters ?? Mocha.default.reporters;

module.exports = class CountingReporter extends Spec {
  constructor(runner, options) {
    super(runner, options);
    const path = process.env.CORDON_TEST_RESULTS;
    if (!path) return;
    const counts = { passed: 0, failed: 0, pending: 0, isFinished: false };
    const count = (name) => () => {
      if (name === 'isFinished') counts.isFinished = true;
      else counts[name] += 1;
      writeFileSync(path, JSON.stringify(counts));
    };
    runner.on('pass', count('passed'));
    runner.on('fail', count('failed'));
    runner.on('pending', count('pending'));
    runner.once('end', count('isFinished'));
  }
};
