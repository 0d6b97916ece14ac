console.log('gantry');
